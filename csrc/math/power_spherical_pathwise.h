// SPDX-License-Identifier: MIT
// How w of a power spherical sample moves with kappa at a fixed quantile. eps = (1-w)/2 is
// Beta(a, b) with a = (m-1)/2 and b = a + kappa; the wanted number is
//     (dw/dkappa)/(1 - w^2) = Y/2,   Y = -(d eps/dkappa)/(eps (1-eps)),
// and Y solves
//     eps (1-eps) Y' + (a - (a+b) eps) Y = log(1-eps) - psi(b) + psi(a+b).
// Two expansions of it have positive terms only, so that nothing cancels anywhere:
//   eps <= kPowerSwitch: Y = sum_n c_n eps^n, with the recurrence
//         (n-1+a+b) c_(n-1) = (n+a) c_n + 1/n
//     run down from c_M, which in turn is a series of inverse factorials,
//         c_n = sum_i alpha_i/((n+a+1) ... (n+a+i)),
//         (b+i-1) alpha_i = (a)_(i-1) + (i-1)^2 alpha_(i-1);
//   beyond, with v = 1-eps, by raising b:
//         b Y(a, b) = (a+b) v Y(a, b+1) + psi(b+1) - psi(a+b) - log v.
// Error: docs/math.md, enforced by tests/math/test_power_spherical.py.
#pragma once

#include "math/power_spherical.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class Scalar>
inline constexpr Scalar kPowerSwitch = Scalar(0.6);

// Constants of m.
template <class Scalar>
struct PowerPathwiseTable {
  static constexpr bool kDouble = sizeof(Scalar) == 8;
  static constexpr int kTerms = kDouble ? 66 : 32;  // M
  static constexpr int kStart = kDouble ? 13 : 7;   // terms of the series for c_M

  Scalar inverse[kTerms + 1];  // 1/n
  Scalar start[kStart];        // (a)_i/(M+a+1)_(i+1)
  Scalar start_slope[kStart];  // i^2/(M+a+1+i)
};

template <class Scalar>
inline PowerPathwiseTable<Scalar> make_power_pathwise_table(int64_t m) {
  using Table = PowerPathwiseTable<Scalar>;
  Table table{};
  const double a = 0.5 * static_cast<double>(m - 1), top = Table::kTerms + a + 1;
  for (int n = 1; n <= Table::kTerms; ++n) table.inverse[n] = static_cast<Scalar>(1.0 / n);
  double ratio = 1 / top;
  for (int i = 0; i < Table::kStart; ++i) {
    table.start[i] = static_cast<Scalar>(ratio);
    table.start_slope[i] = static_cast<Scalar>(double(i) * i / (top + i));
    ratio *= (a + i) / (top + i + 1);
  }
  return table;
}

namespace power_detail {

template <class V>
SVMF_INLINE V pathwise_near_pole(V eps, V b, const PowerTable<ScalarOf<V>>& table,
                                 const PowerPathwiseTable<ScalarOf<V>>& pathwise) {
  using S = ScalarOf<V>;
  using Table = PowerPathwiseTable<S>;
  V term(0), c(0);
  for (int i = 0; i < Table::kStart; ++i) {
    term = mul_add(term, V(pathwise.start_slope[i]), V(pathwise.start[i])) / (b + V(S(i)));
    c += term;
  }
  const V total = b + V(table.nu);
  V sum = c;
  for (int n = Table::kTerms; n >= 1; --n) {
    const V inverse = V(1) / (total + V(S(n - 1)));
    c = mul_add(c, V(table.nu + S(n)), V(pathwise.inverse[n])) * inverse;
    sum = mul_add(sum, eps, c);
  }
  return sum;
}

template <class V>
SVMF_INLINE V pathwise_far_from_pole(V v, V b, const PowerTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  constexpr int kMost = sizeof(S) == 4 ? 96 : 192;
  constexpr S kTiny = sizeof(S) == 4 ? S(1e-37) : S(1e-307);
  const S rise = table.nu - S(1);
  const V total = b + V(table.nu), one(1);
  v = maximum(v, V(kTiny));
  V rest = -(polygamma_step<0>(b + one, V(rise), StirlingSeries<S>::kShift) + logarithm(v));
  V product(1), sum(0);
  auto active = rest == rest;
  for (int k = 0; k < kMost; ++k) {
    const V at_b = b + V(S(k)), at_total = total + V(S(k));
    const V share = product / at_b, term = share * rest;
    // A row ends where its own terms do: what the others need is not seen in it.
    sum = select(active, sum + term, sum);
    active = active & (term > sum * V(Format<S>::kEpsilon / 8));
    if (!any(active)) break;
    product = share * at_total * v;
    rest = rest + V(rise) / ((at_b + one) * at_total);
  }
  return sum;
}

}  // namespace power_detail

// (dw/dkappa)/(1-w^2) from 1-w and 1+w. kappa < 0 or nan -> nan.
template <class V>
SVMF_INLINE V power_step_along_meridian(V one_minus_w, V one_plus_w, V kappa,
                                        const PowerTable<ScalarOf<V>>& table,
                                        const PowerPathwiseTable<ScalarOf<V>>& pathwise) {
  using S = ScalarOf<V>;
  const V half(S(0.5)), b = kappa + V(table.nu);
  const V eps = one_minus_w * half;
  const auto far = eps > V(kPowerSwitch<S>);
  V y(0);
  if (!all(far)) y = power_detail::pathwise_near_pole(minimum(eps, V(S(0.75))), b, table, pathwise);
  if (any(far)) {
    const V v = select(far, one_plus_w * half, V(S(0.25)));
    y = select(far, power_detail::pathwise_far_from_pole(v, b, table), y);
  }
  return select(kappa >= V(0), y * half, not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
