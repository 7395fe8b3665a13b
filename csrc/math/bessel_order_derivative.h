// SPDX-License-Identifier: MIT
// d/dv log I_v(x), in double: far from the origin by log_bessel_far.h, else by the power series (DLMF
// 10.38.1). With z = x^2/4 and t_k = z^k/(k! (v+1)_k),
//     d/dv log I_v = log(x/2) - (sum t_k psi(v+1+k))/(sum t_k).
// psi is told apart from its value at w = v+1+kShift, where Stirling's series (DLMF 5.11.2) holds:
//     d/dv log I_v = log(x/(2w)) + (log w - psi(w)) - (sum t_k G_k)/(sum t_k),
//     G_k = psi(v+1+k) - psi(w), a sum of 1/(v+j).
//
// Errors: docs/math.md, enforced by tests/math/test_log_bessel_k.py.
#pragma once

#include "math/bessel_order.h"
#include "math/log_bessel_far.h"

namespace svmf {
inline namespace SVMF_ISA {

// Stirling's series for psi is good to double precision from 1 + this on, and G_k is small where
// the terms are large.
inline constexpr int kShift = 6;

template <class V, class Order>
SVMF_INLINE V log_iv_order_slope_by_series(const Order& order, V x,
                                           const BesselOrderTables& tables) {
  const V z = square(V(0.5) * x);
  V G[kShift + 1];
  G[kShift] = V(0);
  SVMF_UNROLL
  for (int k = kShift; k > 0; --k) G[k - 1] = G[k] - order.reciprocal(k);
  V term(1), total(1), weighted = G[0];
  SVMF_UNROLL
  for (int k = 1; k <= kShift; ++k) {
    term = term * (z * (order.reciprocal(k) * V(1.0 / k)));
    total = total + term;
    weighted = mul_add(term, G[k], weighted);
  }
  // Beyond the largest term one below this share changes no bit of either sum.
  constexpr double kNothing = 0x1p-64;
  V beyond(0);
  for (int k = kShift + 1; k <= kSeriesTerms; ++k) {
    const V reciprocal = order.reciprocal(k);
    term = term * (z * (reciprocal * V(1.0 / k)));
    beyond = beyond + reciprocal;
    total = total + term;
    weighted = mul_add(term, beyond, weighted);
    if (all(term < total * V(kNothing))) break;
  }
  const V inverse = V(1) / (order.order() + V(1 + kShift)), square_of_inverse = square(inverse);
  V rest(0);  // log w - psi(w)
  constexpr int kCount = sizeof(tables.digamma) / sizeof(tables.digamma[0]);
  for (int i = kCount - 1; i >= 0; --i)
    rest = mul_add(rest, square_of_inverse, V(tables.digamma[i]));
  rest = mul_add(rest, square_of_inverse, V(0.5) * inverse);
  const V ratio = maximum(x * (V(0.5) * inverse), V(0x1p-1074));
  return logarithm(ratio) + (rest - weighted / total);
}

}  // namespace SVMF_ISA
}  // namespace svmf
