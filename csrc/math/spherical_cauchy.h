// SPDX-License-Identifier: MIT
// The functions of rho of the spherical Cauchy distribution (Kato and McCullagh, Bernoulli 26 (2020)
// 3224): KL to the uniform distribution, the mean cosine, their derivatives; and the log density.
//
// With x = rho^2, h = m/2 - 1 and
//     q = 2 rho/(1 + x),   Q = q^2,   tau = (1 - x)/(1 + x) = sqrt(1 - Q),
//     phi_h = 2F1(1/2, 1; h+1; Q) - 1 = sum_(n>=1) a_n Q^n,   a_n = (1/2)_n/(h+1)_n,
// everything is a sum of terms of one sign (docs/math.md):
//     KL/(m-1)   = log((1+x)/(1-x)) - sum_n a_n Q^n/(2n),
//     E[w]       = q (1 - tau^2 phi_h/Q),
//     E[1 - w^2] = (m-1) tau^2 phi_h/Q,
//     dw/drho    = 2 (1 - w^2)/(1 - x) at fixed uniform vector, which gives all derivatives.
// The series serves Q up to where its kTerms terms end above rounding: 0.55 for m = 3, 1 from
// kCauchySeriesDim on. Beyond, with s = tau^2/Q,
//     phi_(h+1)       = (1/2 - (h+1) s phi_h)/(h + 1/2),
//     KL_(h+1)/(m+1)  = KL_h/(m-1) + phi_(h+1)/(2 (h+1)),
// up from m = 2 or m = 3, whose phi are elementary: s < 1, so errors shrink on the way.
//
// Errors: docs/math.md, enforced by tests/math/test_spherical_cauchy.py. rho = 0 is exact; rho
// outside [0, 1) or nan -> nan.
#pragma once

#include "common/functions.h"
#include "math/elementary.h"
#include "math/vmf_table.h"

namespace svmf {
inline namespace SVMF_ISA {

// From here on the series alone.
inline constexpr int kCauchySeriesDim = 64;

// Everything that the functions of rho need to know about one dimension m.
template <class Scalar>
struct CauchyTable {
  static constexpr int kTerms = sizeof(Scalar) == 4 ? 28 : 64;
  static constexpr int kSteps = kCauchySeriesDim / 2;

  Scalar m_minus_one;
  Scalar log_surface;  // log of the area of the unit sphere in R^m
  int steps;           // of the recurrence; -1: the series alone
  int odd;
  Scalar switch_at;         // the largest Q of the series
  Scalar phi[kTerms];       // a_(n+1)
  Scalar kl[kTerms];        // a_(n+1)/(2 (n+1))
  Scalar constant[kSteps];  // 1/(2 h + 1) at step h -> h+1
  Scalar slope[kSteps];     // (h+1)/(h + 1/2)
  Scalar weight[kSteps];    // 1/(2 (h+1))
};

template <class Scalar>
inline CauchyTable<Scalar> make_cauchy_table(int64_t m) {
  using Table = CauchyTable<Scalar>;
  Table table{};
  const double h = 0.5 * static_cast<double>(m) - 1;
  table.m_minus_one = static_cast<Scalar>(m - 1);
  table.log_surface = make_vmf_table<Scalar>(m).log_surface;
  double a = 1;  // a_n
  for (int i = 0; i < Table::kTerms; ++i) {
    a *= (i + 0.5) / (h + i + 1);
    // Terms that cannot be seen would end as subnormal numbers, which are slow.
    const double seen = a < 1e-30 ? 0 : a;
    table.phi[i] = static_cast<Scalar>(seen);
    table.kl[i] = static_cast<Scalar>(seen / (2 * (i + 1)));
  }
  // a_N Q^N below a tenth of rounding.
  const double rounding = 0.1 * static_cast<double>(Format<Scalar>::kEpsilon) * table.phi[0];
  table.switch_at = static_cast<Scalar>(std::pow(rounding / a, 1.0 / Table::kTerms));
  table.odd = static_cast<int>(m % 2);
  table.steps = m < kCauchySeriesDim ? static_cast<int>(m / 2 - 1) : -1;
  for (int i = 0; i < table.steps; ++i) {
    const double o = i + (table.odd ? 0.5 : 0.0);
    table.constant[i] = static_cast<Scalar>(0.5 / (o + 0.5));
    table.slope[i] = static_cast<Scalar>((o + 1) / (o + 0.5));
    table.weight[i] = static_cast<Scalar>(0.5 / (o + 1));
  }
  return table;
}

// rho, and the quantities that come with it.
template <class V>
struct RhoPlace {
  V rho;
  V x;    // rho^2
  V gap;  // 1 - x
  V sum;  // 1 + x
  V Q;
  V tau2;  // tau^2
};

template <class V>
SVMF_INLINE RhoPlace<V> place_rho(V rho) {
  const V x = rho * rho, gap = (V(1) - rho) * (V(1) + rho), sum = V(1) + x;
  const V inverse = V(1) / sum, tau = gap * inverse;
  return {rho, x, gap, sum, V(4) * x * inverse * inverse, tau * tau};
}

template <class V>
struct CauchySums {
  V psi;    // phi_h/Q
  V slope;  // d psi/dQ
  V kl;     // KL/(m-1)
};

template <class V>
SVMF_INLINE CauchySums<V> cauchy_series(const RhoPlace<V>& place,
                                        const CauchyTable<ScalarOf<V>>& table) {
  int i = CauchyTable<ScalarOf<V>>::kTerms - 1;
  V psi(table.phi[i]), slope(0), kl(table.kl[i]);
  while (--i >= 0) {
    slope = mul_add(slope, place.Q, psi);
    psi = mul_add(psi, place.Q, V(table.phi[i]));
    kl = mul_add(kl, place.Q, V(table.kl[i]));
  }
  return {psi, slope, log1p_positive((place.x + place.x) / place.gap) - kl * place.Q};
}

template <class V>
SVMF_INLINE CauchySums<V> cauchy_recurrence(const RhoPlace<V>& place,
                                            const CauchyTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V half(S(0.5)), inverse = V(1) / place.Q, s = place.tau2 * inverse;
  V phi, kl, theta;  // theta: Q d phi/dQ
  if (table.odd) {
    // m = 3: phi + 1 = artanh(q)/q, and KL/2 = phi.
    const V q = (place.rho + place.rho) / place.sum;
    phi = log1p_positive((place.rho + place.rho) / (V(1) - place.rho)) / q - V(1);
    theta = half * ((V(1) / place.tau2 - V(1)) - phi);
    kl = phi;
  } else {
    // m = 2: phi + 1 = 1/tau, and KL = -log(1 - x).
    phi = (place.x + place.x) / place.gap;
    theta = half * place.Q / (place.tau2 * (place.gap / place.sum));
    kl = -logarithm(place.gap);
  }
  for (int i = 0; i < table.steps; ++i) {
    const V slope(table.slope[i]);
    theta = slope * mul_add(-s, theta, phi * inverse);
    phi = mul_add(-slope * s, phi, V(table.constant[i]));
    kl = mul_add(phi, V(table.weight[i]), kl);
  }
  return {phi * inverse, (theta - phi) * inverse * inverse, kl};
}

template <class V>
SVMF_INLINE CauchySums<V> cauchy_sums(const RhoPlace<V>& place,
                                      const CauchyTable<ScalarOf<V>>& table) {
  const auto steep = place.Q > V(table.switch_at);
  if (table.steps < 0 || !any(steep)) return cauchy_series(place, table);
  const CauchySums<V> there = cauchy_recurrence(place, table);
  if (all(steep)) return there;
  const CauchySums<V> here = cauchy_series(place, table);
  return {select(steep, there.psi, here.psi), select(steep, there.slope, here.slope),
          select(steep, there.kl, here.kl)};
}

template <RhoFunction kFunction, class V>
SVMF_INLINE V evaluate_rho_function(V rho, const CauchyTable<ScalarOf<V>>& table) {
  using F = RhoFunction;
  const RhoPlace<V> place = place_rho(rho);
  const CauchySums<V> sums = cauchy_sums(place, table);
  const V d(table.m_minus_one);
  const V across = place.tau2 * sums.psi;                      // E[1 - w^2]/(m-1)
  const V mean = (rho + rho) * ((V(1) - across) / place.sum);  // E[w]
  V y;
  if constexpr (kFunction == F::kKlUniform) {
    y = d * sums.kl;
  } else if constexpr (kFunction == F::kKlUniformGrad) {
    y = (d + d) * (mean / place.gap);
  } else if constexpr (kFunction == F::kKlUniformGrad2) {
    y = V(4) * d * (mul_add(d, across, rho * mean) / place.gap / place.gap);
  } else if constexpr (kFunction == F::kMeanLength) {
    y = mean;
  } else if constexpr (kFunction == F::kMeanLengthGrad) {
    y = (d + d) * (across / place.gap);
  } else {
    static_assert(kFunction == F::kMeanLengthGrad2);
    const V inverse = V(1) / place.sum;
    y = V(4) * d * rho * inverse * inverse * inverse *
        mul_add(V(4) * place.tau2, sums.slope, -(V(3) - place.x) * sums.psi);
  }
  return select((rho >= V(0)) & (rho < V(1)), y, not_a_number<V>());
}

// (dw/drho)/(1 - w^2) at a fixed uniform vector.
template <class V>
SVMF_INLINE V cauchy_step_along_meridian(V rho) {
  return select((rho >= V(0)) & (rho < V(1)), V(2) / ((V(1) - rho) * (V(1) + rho)),
                not_a_number<V>());
}

// (m-1) log((1 - rho^2)/|z - rho mu|^2) - log S, with
//     |z - rho mu|^2 = (1 - rho)^2 + rho |z - mu|^2.
// Where both are near 1 their ratio keeps its digits as
//     (1 - rho^2)/|z - rho mu|^2 = 1 + rho (2 (1 - rho) - |z - mu|^2)/|z - rho mu|^2.
template <class V>
SVMF_INLINE V cauchy_log_prob(V rho, V squared_distance, const CauchyTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V minus = V(1) - rho;
  const V distance = mul_add(rho, squared_distance, minus * minus);
  const V excess = rho * (mul_add(V(2), minus, -squared_distance) / distance);
  const V near = log1p_positive(select(excess > V(S(-0.25)), excess, V(0)));
  const V log_ratio =
      select(excess > V(S(-0.25)), near, logarithm(minus * (V(1) + rho) / distance));
  return select((rho >= V(0)) & (rho < V(1)),
                mul_add(V(table.m_minus_one), log_ratio, -V(table.log_surface)), not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
