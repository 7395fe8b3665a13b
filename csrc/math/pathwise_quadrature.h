// SPDX-License-Identifier: MIT
// The pathwise derivative for moderate s = sqrt(nu^2 + kappa^2): a closed form that is exact at
// w = -1 and w = 1, plus an integral for the difference (docs/math.md).
//
// With a, e, q of vmf_kappa.h and X = q + kappa w:
//     (dw/dkappa)/(1-w^2) = (a/nu)/X + difference,
//     difference = (kappa/nu) int_(-1)^w (a - e X_t)/X_t^2 ((1-t^2)/(1-w^2))^nu e^(kappa (t-w)) dt,
// or minus the same over t from w to 1. The integrand changes its sign once, at e X = a; the side
// without that point leaves nothing to cancel, in either tail.
//
// In the coordinate eps of Wood's proposal (wood.h) the side is
//     eps_t = eps_w u   or   1 - eps_t = (1 - eps_w) u,   u in (0, 1),
// and the integrand is u^nu times a smooth function.
#pragma once

#include <cmath>

#include "math/gauss_jacobi.h"
#include "math/pathwise_asymptotic.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class Scalar>
struct PathwiseTable;

// Up to kLowKappa a shorter set of nodes is enough.
inline constexpr double kLowKappa = 4;
inline constexpr int kMaxLowNodes = 30;

template <>
struct PathwiseTable<double> {
  double asymptotic_from;  // the s from which the expansion is used instead
  int power;               // floor(nu)
  bool half;               // nu - power = 1/2
  int nodes;
  int low_nodes;
  double u[kMaxGaussNodes], weight[kMaxGaussNodes];
  double low_u[kMaxLowNodes], low_weight[kMaxLowNodes];
};

namespace pathwise {

// Nodes that keep the error of the quadrature below eps/2: the smallest numbers that did so against
// 200 nodes in extended precision, on random w down to e^-42 of the mode, for m = 2 ... 90,
// smoothed over m.
inline int node_count(int64_t m) {
  if (m == 2) return 38;
  return static_cast<int>(std::ceil(30.5 - 5.3 * std::log(static_cast<double>(m) / 3)));
}
inline int low_node_count(int64_t m) {
  if (m == 2) return 30;
  const double x = static_cast<double>(m);
  return static_cast<int>(std::ceil(9.5 + 25 / (x - 1) + x / 40));
}

inline PathwiseTable<double> make_quadrature(int64_t m) {
  PathwiseTable<double> table{};
  table.asymptotic_from = asymptotic_from(m);
  if (0.5 * static_cast<double>(m - 1) >= table.asymptotic_from)
    return table;  // s >= nu: never asked for
  table.power = static_cast<int>((m - 1) / 2);
  table.half = m % 2 == 0;
  table.nodes = node_count(m);
  table.low_nodes = low_node_count(m);
  gauss_jacobi(table.nodes, m, table.u, table.weight);
  gauss_jacobi(table.low_nodes, m, table.low_u, table.low_weight);
  return table;
}

// e^x for |x| <= 700 without the care for the ends of the range that `exponential` takes. Error 1
// ulp.
template <class V>
SVMF_INLINE V bounded_exponential(V x) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  constexpr int kBits = Format<S>::kFractionBits;
  constexpr S kRound = static_cast<S>(int64_t(3) << (kBits - 1));
  const V shifted = mul_add(x, V(S(1.44269504088896340736)), V(kRound));
  const V n = shifted - V(kRound);
  const V r =
      mul_add(n, V(-elementary::Ln2<S>::kLow), mul_add(n, V(-elementary::Ln2<S>::kHigh), x));
  const V tail = mul_add(r * r, polynomial<elementary::Exp<S>>(r), r);
  const V scale = from_bits(add_bits(I(to_bits(S(1))), shift_left(to_bits(shifted), kBits)));
  return mul_add(scale, tail, scale);
}

// x^n, n >= 0 the same for all lanes.
template <class V>
SVMF_INLINE V integer_power(V x, int n) {
  V result = (n & 1) ? x : V(1);
  while (n >>= 1) {
    x = x * x;
    if (n & 1) result = result * x;
  }
  return result;
}

// (dw/dkappa)/(1-w^2).
template <class V>
SVMF_INLINE V quadrature(V one_minus_w, V one_plus_w, V kappa, V b,
                         const VmfTable<ScalarOf<V>>& vmf,
                         const PathwiseTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V nu(vmf.nu);
  const MeanLength<V> mean = mean_length_at(place_kappa(kappa, vmf), vmf);
  const V a = mean.a, e = mean.e;
  const V least_X = V(2) * a * mean.q / (mean.q + kappa);  // X at w = -1
  const V X = mul_add(kappa, one_plus_w, least_X);
  // For tiny kappa the point is at w = 0, and e X = a everywhere but for rounding.
  const auto tiny = kappa < V(kTinyKappa<S>);
  const auto right = select(tiny, one_plus_w, e * X) >= select(tiny, one_minus_w, a);

  const V inverse_sum = V(1) / mul_add(b, one_plus_w, one_minus_w);
  const V eps = one_minus_w * inverse_sum;
  const V rest = b * one_plus_w * inverse_sum;  // 1 - eps
  const V D = (b + b) * inverse_sum;
  // The coordinate that goes to zero at the end of the side, and the other one.
  const V near = select(right, eps, rest);
  const V far = select(right, rest, eps);
  // Linear functions of u: D_t, Z = X_t D_t, N = a D_t - e Z, and far_t/far_w.
  const V gap = (V(1) - b) * near;
  const V rise = mul_add(least_X, gap, V(2) * kappa * near);
  const V D0 = select(right, V(1), b), D1 = select(right, -gap, gap);
  const V Z0 = select(right, mul_add(V(2), kappa, least_X), least_X * b),
          Z1 = select(right, -rise, rise);
  const V N0 = mul_add(a, D0, -(e * Z0)), N1 = mul_add(a, D1, -(e * Z1));
  const V far0 = V(1) / far, far1 = -near * far0;
  const V step = V(2) * b * near;  // |dt/du| D_t^2
  const V slope = kappa * step / D;
  const V exponent0 = select(right, slope, -slope);
  const V square_D = D * D;

  const auto integrate = [&](int count, const S* nodes, const S* weights) {
    V sum(0);
    for (int i = 0; i < count; ++i) {
      const V u(nodes[i]);
      const V Dt = mul_add(D1, u, D0);
      const V Zt = mul_add(Z1, u, Z0);
      const V Nt = mul_add(N1, u, N0);
      const V inverse = V(1) / (Dt * Zt);
      const V inverse_D = inverse * Zt;
      const V inverse_Z = inverse * Dt;
      const V base = mul_add(far1, u, far0) * (square_D * inverse_D * inverse_D);
      V power = integer_power(base, table.power);
      if (table.half) power = power * square_root(base);
      // |kappa (t - w)| <= 2 kappa < 2 asymptotic_from.
      const V growth = bounded_exponential(exponent0 * (V(1) - u) * inverse_D);
      sum = mul_add(V(weights[i]) * power * growth, Nt * inverse_D * (inverse_Z * inverse_Z), sum);
    }
    return sum;
  };
  // Each lane has the nodes of its own kappa, whatever its neighbours have.
  const auto low = kappa <= V(S(kLowKappa));
  V integral(0);
  if (any(low)) integral = integrate(table.low_nodes, table.low_u, table.low_weight);
  if (!all(low)) integral = select(low, integral, integrate(table.nodes, table.u, table.weight));
  const V difference = kappa * step * integral;
  return (select(right, -difference, difference) + a / X) / nu;
}

// (dw/dkappa)/(1-w^2) for every s.
template <class V>
SVMF_INLINE V precise(V one_minus_w, V one_plus_w, V kappa, const VmfTable<ScalarOf<V>>& vmf,
                      const PathwiseTable<ScalarOf<V>>& table) {
  const V nu(vmf.nu);
  const Scales<V> scales = scales_of(one_plus_w, kappa, nu);
  const V from(table.asymptotic_from);
  const auto large = scales.s >= from;
  V y(0);
  // Lanes of the other kind ask for the fewest terms, and their results are not used.
  if (any(large))
    y = asymptotic(scales, nu, asymptotic_terms(select(large, scales.s, infinity<V>())));
  if (!all(large))
    y = select(large, y, quadrature(one_minus_w, one_plus_w, kappa, scales.b, vmf, table));
  return y;
}

}  // namespace pathwise

}  // namespace SVMF_ISA
}  // namespace svmf
