// SPDX-License-Identifier: MIT
// The functions of kappa of the power spherical distribution (De Cao and Aziz, "The Power Spherical
// distribution", 2020), whose density relative to the uniform one is ((1 + w)/2)^kappa e^-L. With
// nu = (m-1)/2,
//     L   = log Gamma(nu + kappa) - log Gamma(2 nu + kappa) + log Gamma(2 nu) - log Gamma(nu),
//     L'  = psi(nu + kappa) - psi(2 nu + kappa) <= 0,
//     KL  = kappa L' - L,   KL' = kappa L'',   KL'' = L'' + kappa L'''.
// Differences of Gamma functions, taken in closed form term by term: the arguments are shifted up by
// the recurrence (large ones stay), then Stirling's series (DLMF 5.11.1) is
// subtracted. All sums but those of KL'' and of L where it is large have terms of one sign.
//
// Errors: docs/math.md, enforced by tests/math/test_power_spherical.py. kappa = 0 is exact; kappa < 0
// or nan -> nan.
#pragma once

#include "common/functions.h"
#include "math/elementary.h"
#include "math/vmf_table.h"

namespace svmf {
inline namespace SVMF_ISA {

// log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + sum over odd n of at(n) x^-n.
template <class Scalar>
struct StirlingSeries {
  static constexpr int kLast = sizeof(Scalar) == 4 ? 5 : 11;
  static constexpr int kShift = sizeof(Scalar) == 4 ? 5 : 10;
  static constexpr int kDirect = sizeof(Scalar) == 4 ? 6 : 20;  // from this argument on: no shift
  SVMF_HOST_DEVICE static constexpr Scalar at(int n) {
    return n == 1   ? Scalar(1.0 / 12)
           : n == 3 ? Scalar(-1.0 / 360)
           : n == 5 ? Scalar(1.0 / 1260)
           : n == 7 ? Scalar(-1.0 / 1680)
           : n == 9 ? Scalar(1.0 / 1188)
                    : Scalar(-691.0 / 360360);
  }
};

// Everything that the functions need to know about one dimension m.
template <class Scalar>
struct PowerTable {
  static constexpr int kLast = StirlingSeries<Scalar>::kLast;
  Scalar nu;
  Scalar log_surface;  // log of the area of the unit sphere in R^m
  int shift;
  Scalar first[kLast + 1];   // coefficients of KL's tail at nu + shift
  Scalar second[kLast + 1];  // and at 2 nu + shift
};

template <class Scalar>
inline PowerTable<Scalar> make_power_table(int64_t m) {
  using Series = StirlingSeries<Scalar>;
  PowerTable<Scalar> table{};
  const double nu = 0.5 * static_cast<double>(m - 1);
  table.nu = static_cast<Scalar>(nu);
  table.log_surface = make_vmf_table<Scalar>(m).log_surface;
  table.shift = nu < Series::kDirect ? Series::kShift : 0;
  const auto fill = [](double c, Scalar* out) {
    for (int i = 1; i <= Series::kLast; ++i) {
      double sum = 0;
      for (int n = i | 1; n <= Series::kLast; n += 2)
        sum += static_cast<double>(Series::at(n)) * std::pow(1 / c, n - i);
      out[i] = static_cast<Scalar>(i * sum);
    }
  };
  fill(nu + table.shift, table.first);
  fill(2 * nu + table.shift, table.second);
  return table;
}

namespace power_detail {

// artanh(t) - t for 0 <= t <= 1/3: t^3/3 + t^5/5 + ...
template <class V>
SVMF_INLINE V artanh_tail(V t) {
  using S = ScalarOf<V>;
  constexpr int kTop = sizeof(S) == 4 ? 15 : 33;
  const V z = t * t;
  V sum(S(1.0 / kTop));
  SVMF_UNROLL
  for (int n = kTop - 2; n >= 3; n -= 2) sum = mul_add(sum, z, V(S(1.0 / n)));
  return t * z * sum;
}

// y - log(1 + y) and log(1 + y) - y/(1 + y) for y >= 0, without cancellation.
template <class V>
SVMF_INLINE void log_gaps(V y, V* below, V* above) {
  const auto small = y < V(1);
  const V part = select(small, y, V(0)), whole = select(small, V(1), y);
  const V t = part / (V(2) + part), tail = artanh_tail(t), twice = tail + tail;
  const V logarithm_of_whole = log1p_positive(whole);
  *below = select(small, part * t - twice, whole - logarithm_of_whole);
  *above =
      select(small, part * t / (V(1) + part) + twice, logarithm_of_whole - whole / (V(1) + whole));
}

// Sums over j < shift and Stirling's series, for polygamma functions of order k = 0, 1, 2:
// |psi_k(a + d) - psi_k(a)|, a > 0, a + d > 0. The sign is that of d.
template <int kOrder, class V>
SVMF_INLINE V polygamma_step(V a, V d, int shift) {
  using S = ScalarOf<V>;
  using Series = StirlingSeries<S>;
  V sum(0);
  for (int j = 0; j < shift; ++j) {
    const V u = V(1) / (a + V(S(j))), v = V(1) / (a + d + V(S(j))), uv = u * v;
    if constexpr (kOrder == 0) sum += uv;
    if constexpr (kOrder == 1) sum = mul_add(uv, u + v, sum);
    if constexpr (kOrder == 2) sum = mul_add(uv + uv, mul_add(u, u, mul_add(v, v, uv)), sum);
  }
  const V u = V(1) / (a + V(S(shift))), v = V(1) / (a + d + V(S(shift)));
  // power_k = (u^(k+1) - v^(k+1))/(u - v)
  V power[Series::kLast + kOrder + 1], v_power(1);
  power[0] = V(1);
  SVMF_UNROLL
  for (int k = 1; k <= Series::kLast + kOrder; ++k) {
    v_power *= v;
    power[k] = mul_add(power[k - 1], u, v_power);
  }
  V tail(0);
  SVMF_UNROLL
  for (int n = Series::kLast; n >= 1; n -= 2) {
    const int factor = kOrder == 0 ? n : kOrder == 1 ? n * (n + 1) : n * (n + 1) * (n + 2);
    tail = mul_add(V(S(factor) * Series::at(n)), power[n + kOrder], tail);
  }
  const V difference = d * u * v;  // u - v
  if constexpr (kOrder == 0)
    return mul_add(d, sum, mul_add(difference, V(S(0.5)) + tail, log1p_positive(d * u)));
  if constexpr (kOrder == 1)
    return mul_add(d, sum, difference * (mul_add(V(S(0.5)), power[1], V(1)) + tail));
  return mul_add(d, sum, difference * ((power[1] + power[2]) + tail));
}

}  // namespace power_detail

// KL as a Bregman divergence of log Gamma, D(nu) - D(2 nu) with
//     D(c) = kappa psi(c + kappa) - log Gamma(c + kappa) + log Gamma(c).
template <class V>
SVMF_INLINE V power_kl_uniform(V kappa, const PowerTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  namespace detail = power_detail;
  const V nu(table.nu);
  V sum(0);
  // D(c) = D(c+1) + step(c), step(c) = log(1 + kappa/c) - kappa/(c + kappa); the last step counts
  // half, as Stirling's -log(x)/2. For large kappa the logarithms of both are taken together.
  for (int j = 0; j <= table.shift; ++j) {
    const V c1 = nu + V(S(j)), c2 = nu + nu + V(S(j));
    V unused, step1, step2;
    detail::log_gaps(kappa / c1, &unused, &step1);
    detail::log_gaps(kappa / c2, &unused, &step2);
    const V rise = nu * (kappa / (c2 + kappa));
    const V together = log1p_positive(rise / c1) - rise / (c1 + kappa);
    const V step = select(kappa < c2, step1 - step2, together);
    sum = mul_add(V(j < table.shift ? S(1) : S(0.5)), step, sum);
  }
  const V c1 = nu + V(S(table.shift)), c2 = nu + nu + V(S(table.shift));
  V gap1, gap2, unused;
  detail::log_gaps(kappa / c1, &gap1, &unused);
  detail::log_gaps(kappa / c2, &gap2, &unused);
  const V together =
      nu * log1p_positive(kappa / c2) - c1 * log1p_positive(nu * (kappa / (c2 + kappa)) / c1);
  const V lead = select(kappa < c2, mul_add(c1, gap1, -(c2 * gap2)), together);
  V tail1(0), tail2(0);
  const V v1 = V(1) / (c1 + kappa), v2 = V(1) / (c2 + kappa);
  SVMF_UNROLL
  for (int i = PowerTable<S>::kLast; i >= 1; --i) {
    tail1 = mul_add(tail1, v1, V(table.first[i]));
    tail2 = mul_add(tail2, v2, V(table.second[i]));
  }
  const V y1 = kappa * v1, y2 = kappa * v2;
  return sum + (lead + (y1 * y1 * tail1 / c1 - y2 * y2 * tail2 / c2));
}

template <PowerFunction kFunction, class V>
SVMF_INLINE V evaluate_power_function(V kappa, const PowerTable<ScalarOf<V>>& table) {
  using F = PowerFunction;
  namespace detail = power_detail;
  const V nu(table.nu), a = nu + kappa;
  V y;
  if constexpr (kFunction == F::kKlUniform) {
    y = power_kl_uniform(kappa, table);
  } else if constexpr (kFunction == F::kLogPartition) {
    const V step = detail::polygamma_step<0>(a, nu, table.shift);
    y = -mul_add(kappa, step, power_kl_uniform(kappa, table));
  } else if constexpr (kFunction == F::kLogPartitionGrad) {
    y = -detail::polygamma_step<0>(a, nu, table.shift);
  } else if constexpr (kFunction == F::kLogPartitionGrad3) {
    y = -detail::polygamma_step<2>(a, nu, table.shift);
  } else {
    const V second = detail::polygamma_step<1>(a, nu, table.shift);
    if constexpr (kFunction == F::kLogPartitionGrad2) y = second;
    if constexpr (kFunction == F::kKlUniformGrad) y = kappa * second;
    if constexpr (kFunction == F::kKlUniformGrad2)
      y = mul_add(-kappa, detail::polygamma_step<2>(a, nu, table.shift), second);
  }
  return select(kappa >= V(0), y, not_a_number<V>());
}

// kappa log((1 + w)/2) - L - log S. `to_pole` = |z - mu|^2, `to_other` = |z + mu|^2: (1 + w)/2 from
// the nearer of the two, so that nothing cancels.
template <class V>
SVMF_INLINE V power_log_prob(V kappa, V to_pole, V to_other, const PowerTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const auto near = to_pole <= to_other;
  const V quarter(S(0.25));
  const V log_half = select(near, log1p_positive(select(near, to_pole * -quarter, V(0))),
                            logarithm(to_other * quarter));
  // 0 log 0 = 0, but not of a distance that is nan.
  const V power = select((kappa == V(0)) & (to_other >= V(0)), V(0), kappa * log_half);
  return power - evaluate_power_function<PowerFunction::kLogPartition>(kappa, table) -
         V(table.log_surface);
}

}  // namespace SVMF_ISA
}  // namespace svmf
