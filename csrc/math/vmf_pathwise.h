// SPDX-License-Identifier: MIT
// The pathwise derivative of w = mu.z at fixed probability F(w; kappa),
//     dw/dkappa = -(dF/dkappa)/g,
// where g and F are the density (1-w^2)^((m-3)/2) e^(kappa w) and its distribution function
// (implicit reparameterisation, Figurnov et al. 2018).
//
// double: a quadrature for moderate sqrt(nu^2 + kappa^2) and an expansion beyond
// (pathwise_quadrature.h); a group of lanes takes one branch if all agree, and both if not. float:
// one polynomial in two variables (pathwise_fit.h).
//
// Error, m from 2 to 1e6, kappa from 0 to 1e10 (float: 1e6), wherever the density is above e^-40 of
// its mode: 3 eps of either type (largest of 56000 random points: 2.6, and 3.0 without fma),
// enforced by tests/math/test_pathwise_switches.py; tests/math/test_pathwise.py has all m.
//
// kappa = 0: (1-w^2)/(m-1). kappa = inf: 0. kappa < 0, nan, or w outside [-1, 1] by more than
// rounding: nan.
#pragma once

#include "math/pathwise_table.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace pathwise {

// `value` in the domain, its limit 0 at kappa = inf, nan outside.
template <class V>
SVMF_INLINE V in_domain(V value, V product, V kappa) {
  using S = ScalarOf<V>;
  const auto valid = (kappa >= V(0)) & (product >= V(-16 * Format<S>::kEpsilon));
  return select(valid, select(kappa == infinity<V>(), V(0), value), not_a_number<V>());
}

}  // namespace pathwise

// dw/dkappa. 1-w and 1+w are both asked for, because neither can be recovered from w near the
// poles.
template <class V>
SVMF_INLINE V pathwise_derivative(V one_minus_w, V one_plus_w, V kappa,
                                  const VmfTable<ScalarOf<V>>& vmf,
                                  const PathwiseTable<ScalarOf<V>>& table) {
  const V product = one_minus_w * one_plus_w;
  if constexpr (sizeof(ScalarOf<V>) == 4) {
    const pathwise::FittedSlope<V> slope = pathwise::fitted(one_minus_w, one_plus_w, kappa, table);
    return pathwise::in_domain(product * slope.R / slope.X, product, kappa);
  } else {
    const V slope = pathwise::precise(one_minus_w, one_plus_w, kappa, vmf, table);
    const V zero_kappa = product / V(vmf.nu + vmf.nu);
    return pathwise::in_domain(select(kappa == V(0), zero_kappa, product * slope), product, kappa);
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
