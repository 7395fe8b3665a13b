// SPDX-License-Identifier: MIT
// The kappa whose mean length A(kappa) is R: the maximum-likelihood concentration (docs/math.md).
//
// A(kappa) = R is
//     kappa = 2 (nu + e(kappa)) R/((1-R)(1+R)),
// so kappa lies between the values for e = 0 and e = 1/2. Newton's method on the difference of the
// two sides starts at e = 1/4 and converges in a few steps everywhere.
//
// Error 4 eps relative to the conditioning R/(kappa A'(kappa)),
// tests/math/test_vmf_concentration.py. R = 0 -> 0, R = 1 -> inf, R outside [0, 1] or nan -> nan.
#pragma once

#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

// Enough for both formats: the start is within a factor 1 + 1/(4 nu) of the root, and the error
// squares.
inline constexpr int kConcentrationSteps = 6;

template <class V>
SVMF_INLINE V vmf_concentration(V R, const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V nu(table.nu);
  const V slope = (R + R) / ((V(1) - R) * (V(1) + R));  // kappa = slope * (nu + e)
  V kappa = slope * (nu + V(S(0.25)));
  for (int i = 0; i < kConcentrationSteps; ++i) {
    const KappaPlace<V> place = place_kappa(kappa, table);
    V slope_of_E;
    const V E = evaluate_with_slope(kE, place, table, &slope_of_E);
    const V e = E * nu / (place.s + place.s);
    const V kappa_e_slope =
        -e * log_decay_of_e(place, E, slope_of_E);  // kappa de/dkappa, in [-1/2, 0]
    // f = slope (nu + e) - kappa, f' = slope e' - 1
    const V f = mul_add(slope, nu + e, -kappa);
    kappa = kappa - f / mul_add(slope, kappa_e_slope / kappa, V(-1));
  }
  const V inside = select(R == V(0), V(0), select(R == V(1), infinity<V>(), kappa));
  return select((R >= V(0)) & (R <= V(1)), inside, not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
