// SPDX-License-Identifier: MIT
// The two parts of the reparameterised gradient of Wood's rejection sampler (Naesseth et al. 2017;
// Davidson et al. 2018, appendix D): the derivative of w through the accepted proposal, and that of
// the log ratio of target and proposal.
//
// With nu = (m-1)/2, s = sqrt(nu^2 + kappa^2) and w0 = kappa/(nu + s), the mode of the ratio's
// tangent point:
//     dw/dkappa at fixed eps = (1-w^2)/(2s)
//     d/dkappa log(g/r)      = (w0 - A) - kappa (w - w0)^2/(2s),   mean zero under g
// kappa = 0: (1-w^2)/(m-1) and 0. kappa < 0 or nan -> nan.
#pragma once

#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

// dw/dkappa at fixed eps. Error 2.5 eps.
template <class V>
SVMF_INLINE V rejection_derivative(V one_minus_w, V one_plus_w, V kappa, V nu) {
  const V s = root_sum_squares(nu, kappa);
  return select(kappa >= V(0), one_minus_w * one_plus_w / (s + s), not_a_number<V>());
}

// w0 - A >= 0, without cancellation. s = sqrt(nu^2 + kappa^2).
template <class V>
SVMF_INLINE V mode_minus_mean(const MeanLength<V>& mean, V s, V nu) {
  return mean.A * (mean.e / (nu + s)) * (V(1) + (mean.a + nu) / (mean.S + s));
}

// d/dkappa log(g/r). The two terms cancel on average, so the error is relative to the larger: 5 eps
// of w0 - A plus 5 eps of the other.
template <class V>
SVMF_INLINE V log_ratio_derivative(V one_minus_w, V one_plus_w, V kappa,
                                   const VmfTable<ScalarOf<V>>& table) {
  const V nu(table.nu);
  const V s = root_sum_squares(nu, kappa);
  const V b = nu / (s + kappa);
  const V distance = mul_add(b, one_plus_w, -one_minus_w) / (V(1) + b);  // w - w0
  const MeanLength<V> mean = mean_length_at(place_kappa(kappa, table), table);
  const V derivative = mode_minus_mean(mean, s, nu) - kappa / (s + s) * (distance * distance);
  return select(kappa >= V(0), derivative, not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
