// SPDX-License-Identifier: MIT
// The functions of kappa that belong to a von Mises-Fisher distribution in R^m: the mean length A,
// KL to the uniform distribution, the log partition function L, and their derivatives. Nothing
// cancels anywhere.
//
// Everything hangs on one smooth quantity e(kappa) in (0, 1/2], defined by
//     A = kappa/(a + sqrt(a^2 + kappa^2)),   a = nu + e,   nu = (m-1)/2
// (docs/math.md). e, and the remainders W of KL and V of L, are piecewise polynomials in
//     x = 1 - c/sqrt(c^2 + kappa^2);
// their coefficients for one m are a VmfTable. (Functions that take any Table also serve
// csrc/cuda/kernels/log_bessel.cuh, where a thread has a table for one argument.)
//
// Errors: docs/math.md, enforced by tests/math/test_vmf_kappa.py. kappa = 0 is exact; kappa < 0 or
// nan -> nan; kappa = inf -> the limit.
#pragma once

#include "common/functions.h"
#include "math/elementary.h"
#include "math/lanes.h"
#include "math/vmf_table.h"

namespace svmf {
inline namespace SVMF_ISA {

// Beyond this, c^2 and a^2 no longer matter beside kappa^2, and the square could overflow.
template <class Scalar>
inline constexpr Scalar kHugeKappa = sizeof(Scalar) == 4 ? Scalar(1e18) : Scalar(1e150);

// Below this, KL = L = kappa^2/(2m) and A'' = -6 kappa/(m^2 (m+2)) to full precision, while the
// general formulas go through numbers that underflow long before the result does.
template <class Scalar>
inline constexpr Scalar kTinyKappa = sizeof(Scalar) == 4 ? Scalar(1e-5) : Scalar(1e-9);

// sqrt(a^2 + k^2) for a >= 0, k >= 0.
template <class V>
SVMF_INLINE V root_sum_squares(V a, V k) {
  return select(k > V(kHugeKappa<ScalarOf<V>>), k, square_root(mul_add(k, k, a * a)));
}

// Where kappa lies on the map, and the quantities that come with it.
template <class V>
struct KappaPlace {
  V kappa;
  V s;  // sqrt(c^2 + kappa^2)
  V x;  // 1 - c/s = kappa^2/(s (s + c))
  V y;  // (s - c)/(2c) = x s/(2c)
  V t;  // local variable of the piece
  RowIndex<V> piece;
};

template <class V, class Table>
SVMF_INLINE KappaPlace<V> place_kappa(V kappa, const Table& table) {
  const V c(table.c);
  const V square_kappa = kappa * kappa;
  const V square_s = mul_add(c, c, square_kappa);
  const auto huge = kappa > V(kHugeKappa<ScalarOf<V>>);
  const V s = select(huge, kappa, square_root(square_s));
  const V x = select(huge, V(1), square_kappa / mul_add(s, c, square_s));
  const V y = select(huge, kappa, x * s) * V(table.half_over_c);
  const RowIndex<V> piece(piece_index(x, table));
  return {kappa, s, x, y, x - piece.pick(table.center), piece};
}

// One of the three piecewise polynomials (kE, kW, kV) at the place.
template <class V, class Table>
SVMF_INLINE V evaluate(int function, const KappaPlace<V>& place, const Table& table) {
  int i = table.terms[function] - 1;
  V sum = place.piece.pick(table.coefficient[function][i]);
  while (--i >= 0) sum = mul_add(sum, place.t, place.piece.pick(table.coefficient[function][i]));
  return sum;
}

// The same with the derivative with respect to x.
template <class V>
SVMF_INLINE V evaluate_with_slope(int function, const KappaPlace<V>& place,
                                  const VmfTable<ScalarOf<V>>& table, V* slope) {
  int i = table.terms[function] - 1;
  V sum = place.piece.pick(table.coefficient[function][i]);
  V derivative(0);
  while (--i >= 0) {
    derivative = mul_add(derivative, place.t, sum);
    sum = mul_add(sum, place.t, place.piece.pick(table.coefficient[function][i]));
  }
  *slope = derivative;
  return sum;
}

// e and what follows from it: A = kappa/q, A' = 2e/q.
template <class V>
struct MeanLength {
  V e;
  V a;  // nu + e
  V S;  // sqrt(a^2 + kappa^2)
  V q;  // a + S
  V A;
};

template <class V>
SVMF_INLINE MeanLength<V> mean_length_from_e(V e, V kappa, V nu) {
  const V a = nu + e;
  const V S = root_sum_squares(a, kappa);
  const V q = a + S;
  return {e, a, S, q, select(kappa == infinity<V>(), V(1), kappa / q)};
}

template <class V, class Table>
SVMF_INLINE MeanLength<V> mean_length_at(const KappaPlace<V>& place, const Table& table) {
  const V nu(table.nu);
  const V e = evaluate(kE, place, table) * nu / (place.s + place.s);
  return mean_length_from_e(e, place.kappa, nu);
}

template <class V>
SVMF_INLINE V one_minus_mean_length(const MeanLength<V>& x, V kappa) {
  return select(kappa == infinity<V>(), V(0), x.a * (x.q + kappa) / ((x.S + kappa) * x.q));
}

// log((s + c)/(2c)): the logarithm that KL and L share.
template <class V>
SVMF_INLINE V shared_logarithm(const KappaPlace<V>& place) {
  return log1p_positive(place.y);
}

// `y`, or kappa^2/(2m) for tiny kappa.
template <class V, class Table>
SVMF_INLINE V or_half_square_over_m(V y, V kappa, const Table& table) {
  const auto tiny = kappa < V(kTinyKappa<ScalarOf<V>>);
  return any(tiny) ? select(tiny, kappa * (kappa / V(table.m + table.m)), y) : y;
}

template <class V>
SVMF_INLINE V kl_uniform_at(const KappaPlace<V>& place, V logarithm,
                            const VmfTable<ScalarOf<V>>& table) {
  const V kl = mul_add(V(table.nu), logarithm, place.x * evaluate(kW, place, table));
  return or_half_square_over_m(kl, place.kappa, table);
}

// L = log E[exp(kappa w)] under the uniform distribution.
template <class V, class Table>
SVMF_INLINE V log_partition_at(const KappaPlace<V>& place, V logarithm, const Table& table) {
  const V twice_c(table.c + table.c);
  const V L =
      mul_add(twice_c, place.y, -(V(table.nu) * logarithm)) + place.x * evaluate(kV, place, table);
  return select(place.kappa == infinity<V>(), place.kappa,
                or_half_square_over_m(L, place.kappa, table));
}

// L - kappa, with terms of one sign. With s - c = 2 c y:
//     (s - c) - kappa = c^2/(s + kappa) - c = -c (kappa + 2 c y)/(s + kappa).
template <class V, class Table>
SVMF_INLINE V log_partition_minus_kappa_at(const KappaPlace<V>& place, V logarithm,
                                           const Table& table) {
  const V c(table.c);
  const V shift = c * (mul_add(c + c, place.y, place.kappa) / (place.s + place.kappa));
  const V rest = mul_add(V(table.nu), logarithm, -(place.x * evaluate(kV, place, table)));
  return select(place.kappa == infinity<V>(), -place.kappa, -(shift + rest));
}

// log S - KL in an order of the terms that does not cancel where the entropy crosses zero.
template <class V>
SVMF_INLINE V entropy_at(const KappaPlace<V>& place, V logarithm,
                         const VmfTable<ScalarOf<V>>& table) {
  const V c(table.c), log_surface(table.log_surface);
  const V W = evaluate(kW, place, table);
  const V scaled = V(table.nu) * logarithm;
  const V concentrated = (log_surface - W) + (c / place.s * W - scaled);
  const V spread = (log_surface - scaled) - place.x * W;
  return select(place.s > c + c, concentrated, spread) + V(table.log_surface_low);
}

// With p = 1 - x,
//     -kappa e'/e = (1 - p^2)(1 - p E'/E),
// from the derivative of the approximation: the exact relation between e' and e cancels.
template <class V>
SVMF_INLINE V log_decay_of_e(const KappaPlace<V>& place, V E, V slope_of_E) {
  return place.x * (V(2) - place.x) * (V(1) - (V(1) - place.x) * slope_of_E / E);
}

template <KappaFunction kFunction, class V, class Table>
SVMF_INLINE V evaluate_kappa_function(V kappa, const Table& table) {
  using F = KappaFunction;
  const KappaPlace<V> place = place_kappa(kappa, table);
  V y;
  if constexpr (kFunction == F::kMeanLength) {
    y = mean_length_at(place, table).A;
  } else if constexpr (kFunction == F::kMeanLengthComplement) {
    y = one_minus_mean_length(mean_length_at(place, table), kappa);
  } else if constexpr (kFunction == F::kMeanLengthGrad) {
    const MeanLength<V> x = mean_length_at(place, table);
    y = (x.e + x.e) / x.q;
  } else if constexpr (kFunction == F::kKlUniformGrad) {
    const MeanLength<V> x = mean_length_at(place, table);
    y = (x.e + x.e) * x.A;
  } else if constexpr (kFunction == F::kMeanLengthGrad2 || kFunction == F::kKlUniformGrad2) {
    V slope;
    const V E = evaluate_with_slope(kE, place, table, &slope);
    const V nu(table.nu);
    const MeanLength<V> x = mean_length_from_e(E * nu / (place.s + place.s), kappa, nu);
    const V decay = log_decay_of_e(place, E, slope);
    const V grad = (x.e + x.e) / x.q;  // A'
    if constexpr (kFunction == F::kKlUniformGrad2) {
      // 2e close to 1 from a (1 - 2e) = e (2 kappa A - decay), which is exact.
      const V near_one = V(1) - x.e * ((kappa + kappa) * x.A - decay) / x.a;
      y = grad * (select(x.e > V(ScalarOf<V>(0.25)), near_one, x.e + x.e) - decay);
    } else {
      // A'' = -(A'/(kappa a)) (2 e kappa A + nu decay): terms of one sign.
      const V sum = mul_add((x.e + x.e) * kappa, x.A, nu * decay);
      const V m(table.m);
      const V limit = -(V(6) * kappa / m) / m / (m + V(2));
      y = select(kappa < V(kTinyKappa<ScalarOf<V>>), limit, -(grad / (kappa * x.a)) * sum);
    }
  } else {
    const V logarithm = shared_logarithm(place);
    if constexpr (kFunction == F::kKlUniform) y = kl_uniform_at(place, logarithm, table);
    if constexpr (kFunction == F::kEntropy) y = entropy_at(place, logarithm, table);
    if constexpr (kFunction == F::kLogPartition) y = log_partition_at(place, logarithm, table);
    if constexpr (kFunction == F::kLogNorm)
      y = -V(table.log_surface) - log_partition_at(place, logarithm, table);
  }
  return select(kappa >= V(0), y, not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
