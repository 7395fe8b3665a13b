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
  // Row j has the coefficients of y^j: one for each power of u. The powers of u are summed side by
  // side, because each sum waits for its last addition.
  template <int kY, int kU>
  SVMF_INLINE V sum(const double (&c)[kY][kU]) const {
    V in_y[kU];
    SVMF_UNROLL
    for (int i = 0; i < kU; ++i) in_y[i] = V(c[kY - 1][i]);
    for (int j = kY - 2; j >= 0; --j) {
      SVMF_UNROLL
      for (int i = 0; i < kU; ++i) in_y[i] = mul_add(in_y[i], y, V(c[j][i]));
    }
    V total = in_y[kU - 1];
    SVMF_UNROLL
    for (int i = kU - 2; i >= 0; --i) total = mul_add(total, u, in_y[i]);
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
SVMF_INLINE V log_kve_far(const FarPoint<V>& point, const BesselOrderTables& tables) {
  constexpr double kTwoOverPi = 0.636619772367581343;
  const V v = point.order;
  const V exponent = v * asinh_of_ratio(v, point.x, point.s) - v * (v / (point.s + point.x));
  const V rest =
      mul_add(V(0.5), logarithm(point.s * V(kTwoOverPi)), point.h * point.sum(tables.far_value));
  return exponent - rest;
}

// d/dx log(e^x K_v).
template <class V>
SVMF_INLINE V log_kve_slope_far(const FarPoint<V>& point, const BesselOrderTables& tables) {
  const V v = point.order;
  const V correction = V(0.5) - point.h * point.sum(tables.far_slope);
  return -(v * (v / (point.s + point.x)) / point.x + (point.x * point.h) * point.h * correction);
}

// d^2/dx^2 log K_v.
template <class V>
SVMF_INLINE V log_kve_bend_far(const FarPoint<V>& point, const BesselOrderTables& tables) {
  const V ratio = point.order / point.x;
  const V other = V(1) - (point.q + point.q), rest = square(point.x * point.h);  // 1-2q, 1-q
  const V P1 = point.sum(tables.far_slope);
  const V P2 = point.sum(tables.far_bend);
  const V correction = V(0.5) * other - point.h * (rest * P2 + other * P1);
  return ratio * (ratio * point.h) + point.h * (point.h * correction);
}

// d/dv log K_v.
template <class V>
SVMF_INLINE V log_kv_order_slope_far(const FarPoint<V>& point, const BesselOrderTables& tables) {
  const V correction = mul_add(point.h, point.sum(tables.far_order_k), V(0.5));
  return asinh_of_ratio(point.order, point.x, point.s) -
         (point.order * point.h) * point.h * correction;
}

// d/dv log I_v.
template <class V>
SVMF_INLINE V log_iv_order_slope_far(const FarPoint<V>& point, const BesselOrderTables& tables) {
  const V correction = V(0.5) - point.h * point.sum(tables.far_order_i);
  return -(asinh_of_ratio(point.order, point.x, point.s) +
           (point.order * point.h) * point.h * correction);
}

}  // namespace SVMF_ISA
}  // namespace svmf
