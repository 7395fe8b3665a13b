// SPDX-License-Identifier: MIT
// log K_v(x), log(e^x K_v(x)), its first two derivatives in x, and d/dv log K_v(x), for a real order
// v >= 0 and x >= 0, in double. Three regions, each a kernel of its own (bessel_order_functions.h
// sorts the elements):
//
// Far, sqrt(v^2 + x^2) >= kFar: log_bessel_far.h.
//
// Between, with fine or with coarse steps: the trapezoidal rule, which converges faster than any
// power of the step (DLMF 10.32.9),
//     e^x K_v = int_0^inf e^(-x (cosh t - 1)) cosh(v t) dt,
// of positive terms. The derivatives are means under the same weights:
//     d/dx log(e^x K_v) = -E[cosh t - 1],    d^2/dx^2 = Var[cosh t],
//     d/dv log K_v = E[t sinh(v t)/cosh(v t)].
//
// Near, x < kNear: Temme's series (J. Comput. Phys. 19 (1975) 324) for orders mu and mu + 1,
// v = mu + n, |mu| <= 1/2, and the recurrence upwards (DLMF 10.29.1), which is stable. With y = x/2
// and k_j = y^j K_(mu+j) neither overflows:
//     k_(j+1) = y^2 k_(j-1) + (mu+j) k_j.
// The derivatives in the order obey the same recurrences, differentiated.
//
// Errors: docs/math.md, enforced by tests/math/test_log_bessel_k.py.
#pragma once

#include "math/bessel_order.h"
#include "math/log_bessel_far.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr double kNear = 0.25;
// Orders below kFar take at most this many steps.
inline constexpr int kNearSteps = 20;
// Terms of Temme's series for x < kNear.
inline constexpr int kNearTerms = 6;

// Sums over the nodes: of the weights, with t tanh(v t), and with D and D^2, D = cosh t - 1 - center.
template <class V>
struct WeightedSums {
  V total, order, first, second;
};
template <bool kOrder, int kMoments, class V, class Order>
SVMF_INLINE WeightedSums<V> sum_nodes(const Order& order, V x, V center, const BesselGrid& grid) {
  WeightedSums<V> sums{V(0.5), V(0), V(-0.5) * center, V(0.5) * square(center)};
  // Beyond the peak of the weights a term below this share changes no bit of any sum.
  constexpr double kNothing = 0x1p-68;
  V lost(0);  // by the additions to the total
  for (int i = 1; i < grid.count; ++i) {
    const V C(grid.cosh[i]);
    V weight, with_sinh;
    order.weigh(grid, i, -(x * C), &weight, &with_sinh);
    const V total = sums.total + weight;
    lost += weight - (total - sums.total);
    sums.total = total;
    if constexpr (kOrder) sums.order += with_sinh;
    const V D = C - center;
    if constexpr (kMoments >= 1) sums.first = mul_add(weight, D, sums.first);
    if constexpr (kMoments >= 2) sums.second = mul_add(weight * D, D, sums.second);
    if (all(weight < sums.total * V(kNothing))) break;
  }
  sums.total += lost;
  return sums;
}

template <class V, class Order>
SVMF_INLINE V log_kve_between(const Order& order, V x, const BesselGrid& grid) {
  const WeightedSums<V> sums = sum_nodes<false, 0>(order, x, V(0), grid);
  return logarithm(sums.total * V(grid.step));
}
template <class V, class Order>
SVMF_INLINE V log_kve_slope_between(const Order& order, V x, const BesselGrid& grid) {
  const WeightedSums<V> sums = sum_nodes<false, 1>(order, x, V(0), grid);
  return -(sums.first / sums.total);
}
template <class V, class Order>
SVMF_INLINE V log_kve_bend_between(const Order& order, V x, const BesselGrid& grid) {
  const V v = order.order(), s = square_root(mul_add(x, x, v * v));
  const V center = v * (v / (s + x)) / x;  // near the mean, so that little cancels
  const WeightedSums<V> sums = sum_nodes<false, 2>(order, x, center, grid);
  return sums.second / sums.total - square(sums.first / sums.total);
}
template <class V, class Order>
SVMF_INLINE V log_kv_order_slope_between(const Order& order, V x, const BesselGrid& grid) {
  const WeightedSums<V> sums = sum_nodes<true, 0>(order, x, V(0), grid);
  return sums.order / sums.total;
}

// k_n, k_(n-1) and dk_n/dv for v = mu + n.
template <class V>
struct NearValues {
  V y, n;
  V at, below, slope;
};

template <class V, int kCount>
SVMF_INLINE V sum_powers_of(const double (&c)[kCount], V z) {
  V sum(c[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = mul_add(sum, z, V(c[i]));
  return sum;
}

// (theta cosh(theta) - sinh(theta))/theta^2, odd; `sinh` is that of size = |theta|.
template <class V>
SVMF_INLINE V cosh_beyond_sinh(V theta, V size, V cosh, V sinh) {
  const V z = square(theta);
  // 2k/(2k+1)!
  constexpr double kSeries[] = {1.0 / 3,
                                1.0 / 30,
                                1.0 / 840,
                                1.0 / 45360,
                                1.0 / 3991680,
                                1.0 / 518918400,
                                1.0 / 93405312000,
                                1.0 / 22230464256000,
                                1.0 / 6758061133824000};
  const V small = theta * sum_powers_of(kSeries, z);
  const auto near_zero = z < V(1);
  const V away = select(near_zero, V(1), z);
  const V large = (size * cosh - sinh) / away;
  return select(near_zero, small, select(theta < V(0), -large, large));
}

template <bool kSlope, class V>
SVMF_INLINE NearValues<V> near_values(V v, V x, const BesselOrderTables& tables) {
  // round(v) for 0 <= v < 2^51: adding 1.5 * 2^52 rounds to an integer.
  constexpr double kRound = 0x1.8p52;
  const V n = (v + V(kRound)) - V(kRound), mu = v - n, z = square(mu);
  // Half of the least positive number is that number.
  const V y = maximum(V(0.5) * x, V(0x1p-1074)), square_of_y = square(y);
  const V root = sum_powers_of(tables.root, z);
  const V scale = -logarithm(y) - sum_powers_of(tables.shift, z);
  const V theta = mu * scale, size = absolute(theta);
  V inverse, minus_one;
  exponential_pair(-size, &inverse, &minus_one);
  const V growth = V(1) / inverse;
  const V cosh = V(0.5) * (growth + inverse);
  const V sinh_of_size = V(-0.5) * minus_one * (V(1) + growth);
  const auto no_size = size == V(0), negative = theta < V(0);
  const V half = V(0.5) * root;
  V f = root * scale * select(no_size, V(1), sinh_of_size / select(no_size, V(1), size));
  V p = half * select(negative, inverse, growth), q = half * select(negative, growth, inverse);
  // M = p - q by itself, and the derivatives of f, p, p + q and M: those of f and p + q are odd in
  // mu and keep their digits at small orders.
  V M(0), df(0), dp(0), d_sum(0), dM(0);
  if constexpr (kSlope) {
    const V root_slope = mu * sum_powers_of(tables.root_slope, z);
    const V shift_slope = sum_powers_of(tables.shift_slope, z);
    const V theta_slope = scale - z * shift_slope;
    M = root * select(negative, -sinh_of_size, sinh_of_size);
    dp = p * (root_slope + theta_slope);
    d_sum = mul_add(root_slope, p + q, theta_slope * M);
    dM = mul_add(root_slope, M, theta_slope * (p + q));
    const V bend = square(scale) * cosh_beyond_sinh(theta, size, cosh, sinh_of_size);
    df = mul_add(root_slope, f, root * (bend - mu * shift_slope * cosh));
  }
  // Sums of c_k times f_k, p_k - k f_k and q_k - k f_k.
  V first = f, second = p, mirrored = q, d_first = df, d_second = dp;
  V c(1);
  for (int k = 1; k <= kNearTerms; ++k) {
    const V order(k), above = order + mu, under = order - mu, share = V(1) / (above * under);
    c = c * (square_of_y * V(1.0 / k));
    const V sum = p + q;
    f = mul_add(order, f, sum) * share;
    p = p * (above * share);
    q = q * (under * share);
    first = mul_add(c, f, first);
    second = mul_add(c, p - order * f, second);
    mirrored = mul_add(c, q - order * f, mirrored);
    if constexpr (kSlope) {
      const V twice = mu + mu;
      df = mul_add(twice, f, mul_add(order, df, d_sum)) * share;
      dp = (dp + p) * (above * share);
      const V M_next = mul_add(order, M, mu * sum) * share;
      const V d_sum_next = (mul_add(order, d_sum, mu * dM) + mul_add(twice, p + q, M)) * share;
      dM = (mul_add(order, dM, mu * d_sum) + mul_add(twice, M_next, sum)) * share;
      M = M_next;
      d_sum = d_sum_next;
      d_first = mul_add(c, df, d_first);
      d_second = mul_add(c, dp - order * df, d_second);
    }
  }
  // k_0, k_1 and, below k_0, y K_(mu-1) = y K_(1-mu), as y^2 k_(-1).
  const auto is_lowest = n == V(0);
  V below = select(is_lowest, mirrored, first), at = select(is_lowest, first, second);
  V d_below = d_first, d_at = select(is_lowest, d_first, d_second);
  for (int j = 1; j < kNearSteps; ++j) {
    const auto more = V(j) < n;
    if (!any(more)) break;
    const V factor = mu + V(j);
    if constexpr (kSlope) {
      const V d_next = mul_add(square_of_y, d_below, mul_add(factor, d_at, at));
      d_below = select(more, d_at, d_below);
      d_at = select(more, d_next, d_at);
    }
    const V next = mul_add(square_of_y, below, factor * at);
    below = select(more, at, below);
    at = select(more, next, at);
  }
  return {y, n, at, select(is_lowest, below, square_of_y * below), d_at};
}

template <class V>
SVMF_INLINE V log_kv_near(V v, V x, const BesselOrderTables& tables) {
  const NearValues<V> k = near_values<false>(v, x, tables);
  return logarithm(k.at) - select(k.n == V(0), V(0), k.n * logarithm(k.y));
}
// x K_(v-1)/K_v.
template <class V>
SVMF_INLINE V x_times_ratio(const NearValues<V>& k) {
  return (k.below + k.below) / k.at;
}
template <class V>
SVMF_INLINE V log_kve_slope_near(V v, V x, const BesselOrderTables& tables) {
  return V(1) - (x_times_ratio(near_values<false>(v, x, tables)) + v) / x;
}
// From Bessel's equation, with r = x K_(v-1)/K_v: 1 + (v + r (1-2v) - r^2)/x^2.
template <class V>
SVMF_INLINE V log_kve_bend_near(V v, V x, const BesselOrderTables& tables) {
  const V r = x_times_ratio(near_values<false>(v, x, tables));
  return V(1) + (v + r * ((V(1) - (v + v)) - r)) / x / x;
}
template <class V>
SVMF_INLINE V log_kv_order_slope_near(V v, V x, const BesselOrderTables& tables) {
  const NearValues<V> k = near_values<true>(v, x, tables);
  return k.slope / k.at;
}

}  // namespace SVMF_ISA
}  // namespace svmf
