// SPDX-License-Identifier: MIT
// The pathwise derivative for large s = sqrt(nu^2 + kappa^2), by its expansion in 1/s
// (docs/math.md).
//
// With p = nu/s and zeta = 2s/(nu + s + kappa w):
//     dw/dkappa = (1-w^2)/(2s) sum_j Y_j(zeta)/s^j,
//     Y_0 = zeta,
//     Y_(j+1) = -(zeta^2/2) [G Y_j' - (G Y_j')(1)]/(1 - zeta),
//     G = -1 + (1+p) zeta - p(1+p) zeta^2/2.
// Every Y_j is a polynomial, for j >= 1
//     Y_j = zeta^2 sum_(i < 2j) c_i zeta^i,
// and the division by 1 - zeta is a running sum of coefficients from the highest one down.
#pragma once

#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace pathwise {

// s and, without cancellation, nu + s + kappa w; b is that of Wood's proposal (wood.h).
template <class V>
struct Scales {
  V s;
  V b;
  V X;
};

template <class V>
SVMF_INLINE Scales<V> scales_of(V one_plus_w, V kappa, V nu) {
  const V s = root_sum_squares(nu, kappa);
  const V b = nu / (s + kappa);
  return {s, b, mul_add(kappa, one_plus_w, mul_add(nu, b, nu))};
}

// Where the expansion begins: its left tail asks for a larger s when m is small.
inline double asymptotic_from(int64_t m) { return m < 80 ? 72 : 45; }

// Terms (j < count) that leave a truncation error below eps/4 for every m wherever the density is
// above e^-40 of its mode, when s is at least the bound; found with 33 digits, enforced at each
// switch by tests/math/test_pathwise_switches.py.
inline constexpr int kMostTerms = 14;
template <class V>
SVMF_INLINE V asymptotic_terms(V s) {
  using S = ScalarOf<V>;
  V terms(4);
  terms = select(s < V(S(20000)), V(5), terms);
  terms = select(s < V(S(3000)), V(6), terms);
  terms = select(s < V(S(1000)), V(8), terms);
  terms = select(s < V(S(260)), V(10), terms);
  terms = select(s < V(S(130)), V(12), terms);
  return select(s < V(S(90)), V(kMostTerms), terms);
}

// (dw/dkappa)/(1-w^2). The loops go on until every lane has its terms, but no lane takes more than
// its own: a row's result has the same bits beside any neighbours.
template <class V>
SVMF_INLINE V asymptotic(const Scales<V>& scales, V nu, V terms) {
  using S = ScalarOf<V>;
  V c[2 * kMostTerms - 2], total[2 * kMostTerms - 2];
  const V scale = V(S(0.5)) / scales.s;  // the 1/2 of the recurrence and one more power of 1/s
  const V p = nu / scales.s;
  const V g1 = scale * (V(1) + p);
  const V g2 = g1 * p * V(S(-0.5));
  total[0] = c[0] = g1 + g2;
  total[1] = c[1] = g2;
  int count = 2;
  for (int j = 2; j < kMostTerms; ++j) {
    const auto active = terms > V(static_cast<S>(j));
    if (!any(active)) break;
    // Without factors a lane's new coefficients are zero, and so are all later ones.
    const V own_scale = select(active, scale, V(0));
    const V own_g1 = select(active, g1, V(0)), own_g2 = select(active, g2, V(0));
    // d_i = (i+2) c_i are the coefficients of Y', h = G Y', and the new c_n is the sum of h_i over
    // i >= n.
    total[count] = total[count + 1] = V(0);
    V d0(0), d1(0), sum(0);  // d_n, d_(n-1); then d_(n-2)
    for (int n = count + 1; n >= 0; --n) {
      const V d2 = n >= 2 ? V(static_cast<S>(n)) * c[n - 2] : V(0);
      sum = sum + mul_add(own_g2, d2, mul_add(own_g1, d1, -(own_scale * d0)));
      c[n] = sum;
      total[n] = total[n] + sum;
      d0 = d1;
      d1 = d2;
    }
    count += 2;
  }
  const V inverse_X = V(1) / scales.X;
  const V zeta = (scales.s + scales.s) * inverse_X;
  const V own_count = mul_add(V(2), terms, V(-2));
  V series = total[count - 1];
  for (int i = count - 2; i >= 0; --i) {
    const auto begun = V(static_cast<S>(i + 1)) < own_count;
    series = select(begun, mul_add(series, zeta, total[i]), total[i]);
  }
  return mul_add(series * zeta, inverse_X, inverse_X);
}

}  // namespace pathwise

}  // namespace SVMF_ISA
}  // namespace svmf
