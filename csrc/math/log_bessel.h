// SPDX-License-Identifier: MIT
// log I_v(x), log(e^-x I_v(x)), the ratio I_v(x)/I_(v-1)(x) and its derivative, for a real order v
// >= 0 and x >= 0.
//
// I_v belongs to the vMF distribution with nu = v + 1/2 (vmf_kappa.h, same notation). Its logarithm
// has two forms. From L, and with L - x in place of L for log(e^-x I_v):
//     log I_v = L + v log(x/2) - lgamma(v+1).
// Scaled:
//     log(e^-x I_v) = K + c^2/(s+x) + (1-c/s) V + v log(x/(s+c)) + log(2/(s+c))/2,
//     K = nu log c - lgamma(v+1) - c.
// The first is the better one for small orders and for small x; in the second nothing cancels at
// large orders and at large x.
//
// The polynomials exist for 2v integer (v <= 31) and for nu >= 32. Other orders are reached from
// v+N by downward recurrence (DLMF 10.29.1), which is stable.
//
// Errors: docs/math.md, enforced by tests/math/test_log_bessel.py. Negative or nan x, v < 0 -> nan.
#pragma once

#include <cmath>

#include "math/log_gamma.h"
#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

// Where the two forms meet; tests/math/test_log_bessel.py looks at both sides.
//
// A small order with a table: log(e^-x I_v) is from L below 1.5 + v/2 and scaled above; log I_v is
// from L.
template <class V>
SVMF_INLINE V scaled_form_from(V order) {
  using S = ScalarOf<V>;
  return mul_add(order, V(S(0.5)), V(S(1.5)));
}
// log(e^-x I_v) by recurrence: from L below, from the scaled form of order v+N and I_v/I_(v+N)
// above.
inline constexpr double kRecurrenceScaledX = 128.0;
// log I_v by recurrence is from L up to here, and x - log(2 pi x)/2 beyond, to full precision.
inline constexpr double kRecurrenceHugeX = 1e10;

// Orders from -1 on start at most this far below nu = 32.
inline constexpr int kMostRecurrenceSteps = 33;

// Everything that depends on the order alone. The functions below take any `Order` with these
// members and a step_factor().
template <class Scalar>
struct BesselOrder {
  VmfTable<Scalar> table;  // of order + steps
  Scalar order;
  Scalar log_factor;  // lgamma(order + 1)
  int steps;
  bool small;  // a table of its own, order <= 31
  Scalar step_factors[kMostRecurrenceSteps];
};

// 1/((order + i + 1)(order + i + 2)), i = 0 ... steps - 1.
SVMF_HOST_DEVICE inline double compute_step_factor(double order, int i) {
  const double j = order + (i + 1);
  return 1 / (j * (j + 1));
}
template <class Scalar>
SVMF_HOST_DEVICE inline Scalar step_factor(const BesselOrder<Scalar>& constants, int i) {
  return constants.step_factors[i];
}

// Whether `order` has polynomials of its own.
SVMF_HOST_DEVICE inline bool has_own_table(double order) {
  const double m = 2 * order + 2;
  return order >= 0 && ((m <= 64 && m == std::floor(m)) || order + 0.5 >= coefficients::kLargeNu);
}

// How far above `order` the recurrence starts.
SVMF_HOST_DEVICE inline int recurrence_steps(double order) {
  return has_own_table(order) ? 0
                              : static_cast<int>(std::ceil(coefficients::kLargeNu - (order + 0.5)));
}

template <class Scalar>
inline BesselOrder<Scalar> make_bessel_order(double order) {
  BesselOrder<Scalar> result;
  const double nu = order + 0.5;
  result.order = static_cast<Scalar>(order);
  result.steps = recurrence_steps(order);
  const double m = 2 * order + 2;
  result.small = result.steps == 0 && nu < coefficients::kLargeNu;
  result.table = result.small ? make_vmf_table<Scalar>(static_cast<int64_t>(m))
                              : make_vmf_table_for_nu<Scalar>(nu + result.steps);
  result.log_factor =
      result.steps ? static_cast<Scalar>(log_gamma_one_plus(order)) : result.table.log_gamma;
  for (int i = 0; i < result.steps; ++i)
    result.step_factors[i] =
        static_cast<Scalar>(compute_step_factor(static_cast<double>(result.order), i));
  return result;
}

// log(x/(s+c)) where x/(s+c) may be close to 1: then from
//     1 - x/(s+c) = (c + c^2/(s+x))/(s+c).
template <class V>
SVMF_INLINE V log_tangent(const KappaPlace<V>& place, V c) {
  using S = ScalarOf<V>;
  const V sum = place.s + c;
  const V complement = (c + c * (c / (place.s + place.kappa))) / sum;
  const V near_one = V(1) - complement;
  const V lost = (V(1) - near_one) - complement;
  const auto close = complement < V(S(0.5));
  return logarithm(select(close, near_one, place.kappa / sum), select(close, lost, V(0)));
}

// log(e^-x I_v(x)) of the order that owns the table.
template <class V, class Table>
SVMF_INLINE V log_ive_of_table(const KappaPlace<V>& place, V order, const Table& table) {
  using S = ScalarOf<V>;
  const V c(table.c);
  const V power = select(order == V(0), V(0), order * log_tangent(place, c));
  const V half_log = V(S(-0.5)) * logarithm(V(S(0.5)) * (place.s + c));
  const V small = c * (c / (place.s + place.kappa)) + place.x * evaluate(kV, place, table);
  return (power + half_log) + (small + V(table.bessel_constant));
}

// v log(x/2) - lgamma(v+1): what log I_v has beside L.
template <class V, class Order>
SVMF_INLINE V beside_L(V x, const Order& constants) {
  if (constants.order == 0) return V(0);
  return mul_add(V(constants.order), logarithm(x * V(ScalarOf<V>(0.5))), -V(constants.log_factor));
}

// Value at the ends of the domain, and nan outside.
template <class V>
SVMF_INLINE V guard_bessel(V x, V inside, V at_zero, V at_infinity) {
  const V y = select(x == V(0), at_zero, select(x == infinity<V>(), at_infinity, inside));
  return select(x >= V(0), y, not_a_number<V>());
}

// log I_v or its scaled form for orders with a table of their own.
template <BesselFunction kFunction, class V, class Order>
SVMF_INLINE V log_bessel_of_table(V x, const Order& constants) {
  constexpr bool kScaled = kFunction == BesselFunction::kLogIve;
  const KappaPlace<V> place = place_kappa(x, constants.table);
  const V order(constants.order);
  const V at_zero = constants.order == 0 ? V(0) : -infinity<V>();
  if constexpr (kScaled) {
    V y = log_ive_of_table(place, order, constants.table);
    const auto below = x < scaled_form_from(order);
    if (constants.small && any(below)) {
      const V L_minus_x =
          log_partition_minus_kappa_at(place, shared_logarithm(place), constants.table);
      y = select(below, L_minus_x + beside_L(x, constants), y);
    }
    return guard_bessel(x, y, at_zero, -infinity<V>());
  } else {
    const V y = constants.small
                    ? log_partition_at(place, shared_logarithm(place), constants.table) +
                          beside_L(x, constants)
                    : log_ive_of_table(place, order, constants.table) + x;
    return guard_bessel(x, y, at_zero, infinity<V>());
  }
}

// The recurrence from A = I_(first+N)/I_(first+N-1) down to I_first/I_(first-1), first >= 0.
template <class V>
struct BesselRecurrence {
  V A, grad;  // grad = dA/dx
};
template <class V, class Table>
SVMF_INLINE BesselRecurrence<V> recur_down(const KappaPlace<V>& place, double first, int steps,
                                           const Table& table) {
  const V x = place.kappa;
  const MeanLength<V> start = mean_length_at(place, table);
  V A = start.A, grad = (start.e + start.e) / start.q;
  for (int j = steps - 1; j >= 0; --j) {
    const V twice(2 * (first + j));
    const V denominator = mul_add(x, A, twice);
    // The derivative of A <- x/(twice + x A). For large x its relative error grows by (nu+1)/nu
    // with each step.
    grad = (twice - x * (x * grad)) / (denominator * denominator);
    A = x / denominator;
  }
  return {A, grad};
}

// Q with L_v = L_(v+N) + log(1 + Q). f_j = e^(L_j - L_(v+N)) obeys
//     f_(j-1) = f_j + (x/2)^2 f_(j+1)/(j (j+1))
// (DLMF 10.29.1 with I_j = f_j (x/2)^j/Gamma(j+1)): positive terms, no division, no long chain.
template <class V, class Order>
SVMF_INLINE V growth_down(const KappaPlace<V>& place, const Order& constants) {
  const V z = square(place.kappa * V(0.5));
  const MeanLength<V> start = mean_length_at(place, constants.table);
  V above = V(2 * (constants.order + constants.steps + 1)) / start.q;  // f_(v+N+1)
  V Q(0);                                                              // f_(v+N) - 1
  for (int i = constants.steps - 1; i >= 0; --i) {
    const V f = V(1) + Q;
    Q = mul_add(z * V(step_factor(constants, i)), above, Q);
    above = f;
  }
  return Q;
}

// log I_v by recurrence, double only.
template <class V, class Order>
SVMF_INLINE V log_iv_by_recurrence(V x, const Order& constants) {
  const KappaPlace<V> place = place_kappa(x, constants.table);
  const V L = log_partition_at(place, shared_logarithm(place), constants.table) +
              log1p_positive(growth_down(place, constants));
  V y = L + beside_L(x, constants);
  const auto huge = x > V(kRecurrenceHugeX);
  if (any(huge)) {
    constexpr double kTwoPi = 6.283185307179586477;
    y = select(huge, x - V(0.5) * logarithm(x * V(kTwoPi)), y);
  }
  return guard_bessel(x, y, constants.order == 0 ? V(0) : -infinity<V>(), infinity<V>());
}

// log(I_v/I_(v+N)) for x >= kRecurrenceScaledX. p_j = I_j/I_(v+N) obeys
//     p_(j-1) = p_(j+1) + (2j/x) p_j
// (DLMF 10.29.1): positive terms again, and p_v is below e^5 for such x.
template <class V, class Order>
SVMF_INLINE V log_growth_at_large_x(const KappaPlace<V>& place, const Order& constants) {
  const V twice_over_x = V(2) / place.kappa;
  V above = mean_length_at(place, constants.table).A, p(1);  // of orders v+N+1 and v+N
  for (int i = constants.steps; i >= 1; --i) {
    const V below = mul_add(twice_over_x * V(constants.order + i), p, above);
    above = p;
    p = below;
  }
  return logarithm(p);
}

// log(e^-x I_v) by recurrence, double only.
template <class V, class Order>
SVMF_INLINE V log_ive_by_recurrence(V x, const Order& constants) {
  const KappaPlace<V> place = place_kappa(x, constants.table);
  const auto large = x >= V(kRecurrenceScaledX);
  V y = not_a_number<V>();
  if (any(logical_not(large)))
    y = log_partition_minus_kappa_at(place, shared_logarithm(place), constants.table) +
        (log1p_positive(growth_down(place, constants)) + beside_L(x, constants));
  if (any(large))
    y = select(large,
               log_ive_of_table(place, V(constants.order + constants.steps), constants.table) +
                   log_growth_at_large_x(place, constants),
               y);
  return guard_bessel(x, y, constants.order == 0 ? V(0) : -infinity<V>(), -infinity<V>());
}

// I_v/I_(v-1) and its derivative by recurrence; `table` belongs to order - 1 + steps.
template <BesselFunction kFunction, class V, class Table>
SVMF_INLINE V ratio_by_recurrence(V x, double order, int steps, const Table& table) {
  const KappaPlace<V> place = place_kappa(x, table);
  const BesselRecurrence<V> r = recur_down(place, order, steps, table);
  if constexpr (kFunction == BesselFunction::kIvRatio) {
    return guard_bessel(x, r.A, V(order == 0 ? Format<double>::kInfinity : 0.0), V(1));
  } else {
    // Near 0 the ratio is x/(2v) (v > 0) or 2/x (v = 0).
    return guard_bessel(x, r.grad, V(order == 0 ? -Format<double>::kInfinity : 0.5 / order), V(0));
  }
}

SVMF_HOST_DEVICE constexpr bool is_ratio(BesselFunction f) {
  return f == BesselFunction::kIvRatio || f == BesselFunction::kIvRatioGrad;
}

// The order whose vMF distribution the function is computed from: I_v/I_(v-1) is the mean length of
// order v-1.
SVMF_HOST_DEVICE constexpr double base_order(BesselFunction f, double order) {
  return is_ratio(f) ? order - 1 : order;
}

// For orders with a table of their own: `constants` belong to base_order(kFunction, order).
template <BesselFunction kFunction, class V, class Order>
SVMF_INLINE V bessel_of_table(V x, const Order& constants) {
  if constexpr (kFunction == BesselFunction::kIvRatio) {
    return evaluate_kappa_function<KappaFunction::kMeanLength>(x, constants.table);
  } else if constexpr (kFunction == BesselFunction::kIvRatioGrad) {
    return evaluate_kappa_function<KappaFunction::kMeanLengthGrad>(x, constants.table);
  } else {
    return log_bessel_of_table<kFunction>(x, constants);
  }
}

// For all others, in double.
template <BesselFunction kFunction, class V, class Order>
SVMF_INLINE V bessel_by_recurrence(V x, double order, const Order& constants) {
  if constexpr (is_ratio(kFunction)) {
    return ratio_by_recurrence<kFunction>(x, order, constants.steps, constants.table);
  } else if constexpr (kFunction == BesselFunction::kLogIve) {
    return log_ive_by_recurrence(x, constants);
  } else {
    return log_iv_by_recurrence(x, constants);
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
