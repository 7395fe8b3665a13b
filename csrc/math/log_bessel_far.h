// SPDX-License-Identifier: MIT
// log K_v and the derivatives in the order v of log K_v and log I_v far from the origin, where
// s = sqrt(v^2 + x^2) is at least kFar. With h = 1/s and q = (v/s)^2 (DLMF 10.41.4)
//     log K_v = -s + v asinh(v/x) - log(2 s/pi)/2 + P(-h, q),
// and log I_v = s - v asinh(v/x) - log(2 pi s)/2 + P(h, q) up to e^(-2s). With the operator
// T = h d/dh + 2q d/dq
//     x dP/dx = -(1-q) TP,    s^2 dP/dv = v (2 dP/dq - TP).
// Every sum below is of terms of one sign but for the correction P, which is small beside them.
// Polynomials: tools/make_bessel_order_coefficients.py.
#pragma once

#include "math/bessel_order_coefficients.h"
#include "math/elementary.h"

namespace svmf {
inline namespace SVMF_ISA {

using coefficients::BesselOrderTables;

template <class V>
struct FarPoint {
  V order, x, s, h, q;
  V u, y;  // arguments of the polynomials

  SVMF_INLINE FarPoint(V v, V argument) : order(v), x(argument) {
    constexpr double kHuge = 1e150;
    s = select(x > V(kHuge), x, square_root(mul_add(x, x, v * v)));
    h = V(1) / s;
    q = square(v * h);
    u = mul_add(h, V(2 * coefficients::kFar), V(-1));
    y = mul_add(q, V(2), V(-1));
  }
  // The rows of a polynomial are its coefficients of 1, u, u^2, ..., lowest power of y first.
  template <int kCount, int kRows>
  SVMF_INLINE V sum(const double (&c)[kCount], const int (&ends)[kRows]) const {
    V total(0);
    int i = kCount;
    for (int row = kRows - 1; row >= 0; --row) {
      const int begin = row > 0 ? ends[row - 1] : 0;
      V in_y(c[--i]);
      while (i > begin) in_y = mul_add(in_y, y, V(c[--i]));
      total = mul_add(total, u, in_y);
    }
    return total;
  }
};

// asinh(v/x), v >= 0, x > 0: log1p of positive terms, or log(2v/x) where that overflows.
template <class V>
SVMF_INLINE V asinh_of_ratio(V v, V x, V s) {
  const V excess = (v + v * (v / (s + x))) / x;  // e^asinh - 1
  const V y = log1p_positive(excess);
  const auto large = excess > V(1e300);
  if (!any(large)) return y;
  return select(large, logarithm(v + s) - logarithm(x), y);
}

template <class V>
SVMF_INLINE V log_kve_far(const FarPoint<V>& at, const BesselOrderTables& tables) {
  constexpr double kTwoOverPi = 0.636619772367581343;
  const V v = at.order;
  const V exponent = v * asinh_of_ratio(v, at.x, at.s) - v * (v / (at.s + at.x));
  const V rest = mul_add(V(0.5), logarithm(at.s * V(kTwoOverPi)),
                         at.h * at.sum(tables.far_value, tables.far_value_ends));
  return exponent - rest;
}

// d/dx log(e^x K_v).
template <class V>
SVMF_INLINE V log_kve_slope_far(const FarPoint<V>& at, const BesselOrderTables& tables) {
  const V v = at.order;
  const V correction = V(0.5) - at.h * at.sum(tables.far_slope, tables.far_slope_ends);
  return -(v * (v / (at.s + at.x)) / at.x + (at.x * at.h) * at.h * correction);
}

// d^2/dx^2 log K_v.
template <class V>
SVMF_INLINE V log_kve_bend_far(const FarPoint<V>& at, const BesselOrderTables& tables) {
  const V ratio = at.order / at.x;
  const V other = V(1) - (at.q + at.q), rest = square(at.x * at.h);  // 1-2q, 1-q
  const V P1 = at.sum(tables.far_slope, tables.far_slope_ends);
  const V P2 = at.sum(tables.far_bend, tables.far_bend_ends);
  const V correction = V(0.5) * other - at.h * (rest * P2 + other * P1);
  return ratio * (ratio * at.h) + at.h * (at.h * correction);
}

// d/dv log K_v.
template <class V>
SVMF_INLINE V log_kv_order_slope_far(const FarPoint<V>& at, const BesselOrderTables& tables) {
  const V correction = mul_add(at.h, at.sum(tables.far_order_k, tables.far_order_k_ends), V(0.5));
  return asinh_of_ratio(at.order, at.x, at.s) - (at.order * at.h) * at.h * correction;
}

// d/dv log I_v.
template <class V>
SVMF_INLINE V log_iv_order_slope_far(const FarPoint<V>& at, const BesselOrderTables& tables) {
  const V correction = V(0.5) - at.h * at.sum(tables.far_order_i, tables.far_order_i_ends);
  return -(asinh_of_ratio(at.order, at.x, at.s) + (at.order * at.h) * at.h * correction);
}

}  // namespace SVMF_ISA
}  // namespace svmf
