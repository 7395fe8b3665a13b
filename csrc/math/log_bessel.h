// SPDX-License-Identifier: MIT
// log I_v(x), log(e^-x I_v(x)), the ratio I_v(x)/I_(v-1)(x) and its derivative, real order v >= 0, x >= 0.
//
// I_v belongs to the vMF distribution with nu = v + 1/2: with its V, s, c (vmf_kappa.h, same notation)
//   log(e^-x I_v) = K + c^2/(s+x) + (1-c/s) V + v log(x/(s+c)) + log(2/(s+c))/2,   K = nu log c - lgamma(v+1) - c,
// which has no large terms that cancel, neither at small nor at large x. The polynomials exist for 2v integer (v <= 31)
// and for nu >= 32; other orders are reached from v+N by downward recurrence (DLMF 10.29.1), which is stable.
// Errors: docs/math.md, enforced by tests/math/test_log_bessel.py. Negative or nan x, v < 0 -> nan.
#pragma once

#include <cmath>

#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

// The recurrence takes its logarithm from L below this x and from the product of the ratios above: the product
// underflows for small x, and L loses digits to x for large x.
inline constexpr double kRecurrenceProductX = 64.0;

// Everything that depends on the order alone.
template <class Scalar>
struct BesselOrder {
  VmfTable<Scalar> table;  // of order + steps
  Scalar order;
  Scalar log_factor;  // lgamma(order + 1), for steps > 0
  int steps;
};

// Whether `order` has polynomials of its own.
inline bool has_own_table(double order) {
  const double m = 2 * order + 2;
  return order >= 0 && ((m <= 64 && m == std::floor(m)) || order + 0.5 >= coefficients::kLargeNu);
}

template <class Scalar>
inline BesselOrder<Scalar> make_bessel_order(double order) {
  BesselOrder<Scalar> result;
  const double nu = order + 0.5;
  result.order = static_cast<Scalar>(order);
  result.steps = has_own_table(order) ? 0 : static_cast<int>(std::ceil(coefficients::kLargeNu - nu));
  const double m = 2 * order + 2;
  result.table = result.steps == 0 && nu < coefficients::kLargeNu
                     ? make_vmf_table<Scalar>(static_cast<int64_t>(m))
                     : make_vmf_table_for_nu<Scalar>(nu + result.steps);
  result.log_factor = static_cast<Scalar>(result.steps ? lgammal(static_cast<long double>(order) + 1) : 0.0L);
  return result;
}

// log(x/(s+c)) where x/(s+c) may be close to 1: then from 1 - x/(s+c) = (c + c^2/(s+x))/(s+c).
template <class V>
SVMF_INLINE V log_tangent(const KappaPlace<V>& at, V c) {
  using S = ScalarOf<V>;
  const V sum = at.s + c;
  const V complement = (c + c * (c / (at.s + at.kappa))) / sum;
  const V near_one = V(1) - complement;
  const V lost = (V(1) - near_one) - complement;
  const auto close = complement < V(S(0.5));
  const V tangent = at.kappa / sum;
  return select(close, log_reduced(near_one, lost), logarithm(tangent));
}

// log(e^-x I_v(x)) of the order that owns the table.
template <class V>
SVMF_INLINE V log_ive_of_table(const KappaPlace<V>& at, V order, const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V c(table.c);
  const V power = select(order == V(0), V(0), order * log_tangent(at, c));
  const V half_log = V(S(0.5)) * logarithm(V(2) / (at.s + c));
  const V small = c * (c / (at.s + at.kappa)) + at.x * evaluate(kV, at, table);
  return (power + half_log) + (small + V(table.bessel_constant));
}

// Value at the ends of the domain, and nan outside.
template <class V>
SVMF_INLINE V guard_bessel(V x, V inside, V at_zero, V at_infinity) {
  const V y = select(x == V(0), at_zero, select(x == infinity<V>(), at_infinity, inside));
  return select(x >= V(0), y, not_a_number<V>());
}

// log I_v or its scaled form for orders with a table of their own.
template <BesselFunction kFunction, class V>
SVMF_INLINE V log_bessel_of_table(V x, const BesselOrder<ScalarOf<V>>& of) {
  using F = BesselFunction;
  const KappaPlace<V> at = place_kappa(x, of.table);
  const V zero = of.order == 0 ? V(0) : -infinity<V>();
  const V scaled = log_ive_of_table(at, V(of.order), of.table);
  if constexpr (kFunction == F::kLogIve) return guard_bessel(x, scaled, zero, -infinity<V>());
  else return guard_bessel(x, x + scaled, zero, infinity<V>());
}

// The recurrence from v+N down to v. A_j = I_(j+1)/I_j; L_v = L_(v+N) + log1p(Q).
// `order` and the lower end of the recurrence may be as low as -1 (for the ratio at order 0).
template <class V>
struct BesselRecurrence {
  V A, Q, product, e;
};
template <class V>
SVMF_INLINE BesselRecurrence<V> recur_down(const KappaPlace<V>& at, double order, int steps,
                                           const VmfTable<ScalarOf<V>>& table) {
  const V k = at.kappa;
  MeanLength<V> x = mean_length_at(at, table);
  V A = x.A, Q(0), product(1), e = x.e, S = x.S;
  for (int j = steps - 1; j >= 0; --j) {
    const V twice(2 * (order + j + 1));
    const V nu(order + j + 0.5);
    const V y = k * A / twice;
    Q = Q + y + Q * y;
    A = k / (twice + k * A);
    product *= A;
    // Order relation of the roots: e_v + S_v = S_(v+1) - e_(v+1) = T, S_v^2 = (nu + e_v)^2 + k^2.
    const V T = S - e;
    const V next = ((V(1) + e) * (nu + nu + V(1) + e) + e * e - (S + S) * e) / (nu + nu + T + T);
    e = next;
    S = T - e;
  }
  return {A, Q, product, e};
}

// log I_v or its scaled form by recurrence, double only.
template <BesselFunction kFunction, class V>
SVMF_INLINE V log_bessel_by_recurrence(V x, double order, int steps, V log_factor,
                                       const VmfTable<double>& table) {
  const KappaPlace<V> at = place_kappa(x, table);
  const BesselRecurrence<V> r = recur_down(at, order, steps, table);
  const V L = log_partition_at(at, shared_logarithm(at), table) + log1p_positive(r.Q);
  const V below = (L - log_factor) + V(order) * logarithm(x * V(0.5));
  const V above = log_ive_of_table(at, V(order + steps), table) - logarithm(r.product);
  const auto small = x < V(kRecurrenceProductX);
  const V zero = order == 0 ? V(0) : -infinity<V>();
  if constexpr (kFunction == BesselFunction::kLogIve) {
    return guard_bessel(x, select(small, below - x, above), zero, -infinity<V>());
  } else {
    return guard_bessel(x, select(small, below, above + x), zero, infinity<V>());
  }
}

// I_v/I_(v-1) and its derivative by recurrence; `table` belongs to order - 1 + steps.
template <BesselFunction kFunction, class V>
SVMF_INLINE V ratio_by_recurrence(V x, double order, int steps, const VmfTable<double>& table) {
  const KappaPlace<V> at = place_kappa(x, table);
  const BesselRecurrence<V> r = recur_down(at, order - 1, steps, table);
  if constexpr (kFunction == BesselFunction::kIvRatio) {
    return guard_bessel(x, r.A, V(order == 0 ? Format<double>::kInfinity : 0.0), V(1));
  } else {
    // Near 0 the ratio is x/(2v) (v > 0) or 2/x (v = 0).
    return guard_bessel(x, (r.e + r.e) * r.A / x, V(order == 0 ? -Format<double>::kInfinity : 0.5 / order), V(0));
  }
}

SVMF_HOST_DEVICE constexpr bool is_ratio(BesselFunction f) {
  return f == BesselFunction::kIvRatio || f == BesselFunction::kIvRatioGrad;
}

// The order whose vMF distribution the function is computed from: I_v/I_(v-1) is the mean length of order v-1.
SVMF_HOST_DEVICE constexpr double base_order(BesselFunction f, double order) { return is_ratio(f) ? order - 1 : order; }

// For orders with a table of their own: `of` belongs to base_order(kFunction, order).
template <BesselFunction kFunction, class V>
SVMF_INLINE V bessel_of_table(V x, const BesselOrder<ScalarOf<V>>& of) {
  if constexpr (kFunction == BesselFunction::kIvRatio) {
    return evaluate_kappa_function<KappaFunction::kMeanLength>(x, of.table);
  } else if constexpr (kFunction == BesselFunction::kIvRatioGrad) {
    return evaluate_kappa_function<KappaFunction::kMeanLengthGrad>(x, of.table);
  } else {
    return log_bessel_of_table<kFunction>(x, of);
  }
}

// For all others, in double.
template <BesselFunction kFunction, class V>
SVMF_INLINE V bessel_by_recurrence(V x, double order, const BesselOrder<double>& of) {
  if constexpr (is_ratio(kFunction)) {
    return ratio_by_recurrence<kFunction>(x, order, of.steps, of.table);
  } else {
    return log_bessel_by_recurrence<kFunction>(x, order, of.steps, V(of.log_factor), of.table);
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
