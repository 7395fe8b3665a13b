// SPDX-License-Identifier: MIT
// The functions of kappa that belong to a von Mises-Fisher distribution in R^m: mean length A, KL to the uniform
// distribution, log partition function L, and their derivatives; no cancellation anywhere.
//
// Everything hangs on one smooth quantity e(kappa) in (0, 1/2], defined by A = kappa/(a + sqrt(a^2 + kappa^2)) with
// a = nu + e and nu = (m-1)/2 (docs/math.md). e, and the remainders W of KL and V of L, are piecewise polynomials in
// p = c/sqrt(c^2 + kappa^2); their coefficients for one m are a VmfTable. Errors: see docs/math.md, enforced by
// tests/math/test_vmf_kappa.py. kappa = 0 is exact; kappa < 0 or nan -> nan; kappa = inf -> the limit.
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

// sqrt(a^2 + k^2) for a >= 0, k >= 0.
template <class V>
SVMF_INLINE V root_sum_squares(V a, V k) {
  return select(k > V(kHugeKappa<ScalarOf<V>>), k, square_root(mul_add(k, k, a * a)));
}

// Where kappa lies on the map p = c/s, and the quantities that come with it.
template <class V>
struct KappaPlace {
  V kappa;
  V s;     // sqrt(c^2 + kappa^2)
  V p;     // c/s
  V gap;   // 1 - p = d/s
  V rise;  // d = s - c
  V t;     // local variable of the piece, in [-1, 1]
  RowIndex<V> piece;
};

template <class V>
SVMF_INLINE KappaPlace<V> place_kappa(V kappa, const VmfTable<ScalarOf<V>>& table) {
  const V c(table.c);
  const V s = root_sum_squares(c, kappa);
  const V p = c / s;
  const V ratio = kappa / (s + c);
  const V rise = select(kappa == infinity<V>(), kappa, kappa * ratio);
  const V gap = select(kappa == infinity<V>(), V(1), rise / s);
  const auto index = piece_index(p, table);
  const RowIndex<V> piece(index);
  const V t = mul_add(p, piece.pick(table.scale), piece.pick(table.offset));
  return {kappa, s, p, gap, rise, t, piece};
}

// One of the three piecewise polynomials (kE, kW, kV) at the place.
template <class V>
SVMF_INLINE V evaluate(int function, const KappaPlace<V>& at, const VmfTable<ScalarOf<V>>& table) {
  constexpr int kCount = VmfTable<ScalarOf<V>>::kCoefficients;
  V sum = at.piece.pick(table.coefficient[function][kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) {
    sum = mul_add(sum, at.t, at.piece.pick(table.coefficient[function][i]));
  }
  return sum;
}

// The same with the derivative with respect to p.
template <class V>
SVMF_INLINE V evaluate_with_slope(int function, const KappaPlace<V>& at,
                                  const VmfTable<ScalarOf<V>>& table, V* slope) {
  constexpr int kCount = VmfTable<ScalarOf<V>>::kCoefficients;
  V sum = at.piece.pick(table.coefficient[function][kCount - 1]);
  V derivative(0);
  for (int i = kCount - 2; i >= 0; --i) {
    derivative = mul_add(derivative, at.t, sum);
    sum = mul_add(sum, at.t, at.piece.pick(table.coefficient[function][i]));
  }
  *slope = derivative * at.piece.pick(table.scale);
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

template <class V>
SVMF_INLINE MeanLength<V> mean_length_at(const KappaPlace<V>& at,
                                         const VmfTable<ScalarOf<V>>& table) {
  const V nu(table.nu);
  const V e = evaluate(kE, at, table) * nu / (at.s + at.s);
  return mean_length_from_e(e, at.kappa, nu);
}

template <class V>
SVMF_INLINE V one_minus_mean_length(const MeanLength<V>& x, V kappa) {
  return select(kappa == infinity<V>(), V(0), x.a * (x.q + kappa) / ((x.S + kappa) * x.q));
}

// log((s + c)/(2c)) = log1p(d/(2c)): the logarithm that KL and L share.
template <class V>
SVMF_INLINE V shared_logarithm(const KappaPlace<V>& at, const VmfTable<ScalarOf<V>>& table) {
  return log1p_positive(at.rise * V(table.half_over_c));
}

template <class V>
SVMF_INLINE V kl_uniform_at(const KappaPlace<V>& at, V logarithm, const VmfTable<ScalarOf<V>>& table) {
  return mul_add(V(table.nu), logarithm, at.gap * evaluate(kW, at, table));
}

// L = log E[exp(kappa w)] under the uniform distribution.
template <class V>
SVMF_INLINE V log_partition_at(const KappaPlace<V>& at, V logarithm, const VmfTable<ScalarOf<V>>& table) {
  const V rest = at.gap * evaluate(kV, at, table);
  const V finite = at.rise - mul_add(V(table.nu), logarithm, -rest);
  return select(at.kappa == infinity<V>(), at.kappa, finite);
}

// kappa e'/e = -(1 - p^2)(1 + p E'/E), from the derivative of the approximation: the exact relation cancels.
template <class V>
SVMF_INLINE V log_slope_of_e(const KappaPlace<V>& at, V E, V slope_of_E) {
  return -(at.gap * (V(1) + at.p)) * (V(1) + at.p * slope_of_E / E);
}

// A'' = -(A'/kappa)((1 - 2e) - kappa e'/e). For small kappa 1 - 2e cancels; there the Taylor series
// A = k/m - k^3/(m^2(m+2)) + 2k^5/(m^3(m+2)(m+4)) - (5m+12)k^7/(m^4(m+2)^2(m+4)(m+6)) + ... takes over.
template <class V>
SVMF_INLINE V mean_length_grad2(const KappaPlace<V>& at, const MeanLength<V>& x, V log_slope,
                                const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const V m(table.m);
  const V k = at.kappa;
  const V grad = (x.e + x.e) / x.q;
  const V general = -(grad / k) * ((V(1) - x.e - x.e) - log_slope);
  const V z = square(k / m);
  const V m2 = m / (m + V(2)), m4 = m / (m + V(4)), m6 = m / (m + V(6));
  const V third = (V(5) + V(12) / m) * m2 * m4 * m6;
  const V series = -(k / m) * (m2 / (m * m)) * mul_add(z, mul_add(z * V(42), third, V(-40) * m4), V(6));
  return select(k < m * V(sizeof(S) == 4 ? S(0.1) : S(0.01)), series, general);
}

template <KappaFunction kFunction, class V>
SVMF_INLINE V evaluate_kappa_function(V kappa, const VmfTable<ScalarOf<V>>& table) {
  using F = KappaFunction;
  const KappaPlace<V> at = place_kappa(kappa, table);
  V y;
  if constexpr (kFunction == F::kMeanLength) {
    y = mean_length_at(at, table).A;
  } else if constexpr (kFunction == F::kMeanLengthComplement) {
    y = one_minus_mean_length(mean_length_at(at, table), kappa);
  } else if constexpr (kFunction == F::kMeanLengthGrad) {
    const MeanLength<V> x = mean_length_at(at, table);
    y = (x.e + x.e) / x.q;
  } else if constexpr (kFunction == F::kKlUniformGrad) {
    const MeanLength<V> x = mean_length_at(at, table);
    y = (x.e + x.e) * x.A;
  } else if constexpr (kFunction == F::kMeanLengthGrad2 || kFunction == F::kKlUniformGrad2) {
    V slope;
    const V E = evaluate_with_slope(kE, at, table, &slope);
    const V nu(table.nu);
    const MeanLength<V> x = mean_length_from_e(E * nu / (at.s + at.s), kappa, nu);
    const V log_slope = log_slope_of_e(at, E, slope);
    if constexpr (kFunction == F::kKlUniformGrad2) {
      y = (x.e + x.e) / x.q * (x.e + x.e + log_slope);
    } else {
      y = mean_length_grad2(at, x, log_slope, table);
    }
  } else {
    const V logarithm = shared_logarithm(at, table);
    if constexpr (kFunction == F::kKlUniform) y = kl_uniform_at(at, logarithm, table);
    if constexpr (kFunction == F::kEntropy) y = V(table.log_surface) - kl_uniform_at(at, logarithm, table);
    if constexpr (kFunction == F::kLogPartition) y = log_partition_at(at, logarithm, table);
    if constexpr (kFunction == F::kLogNorm) y = -V(table.log_surface) - log_partition_at(at, logarithm, table);
  }
  return select(kappa >= V(0), y, not_a_number<V>());
}

// KL and its derivative in one pass: a training step's needs.
template <class V>
SVMF_INLINE V kl_uniform_with_grad(V kappa, const VmfTable<ScalarOf<V>>& table, V* grad) {
  const KappaPlace<V> at = place_kappa(kappa, table);
  const MeanLength<V> x = mean_length_at(at, table);
  const auto valid = kappa >= V(0);
  *grad = select(valid, (x.e + x.e) * x.A, not_a_number<V>());
  return select(valid, kl_uniform_at(at, shared_logarithm(at, table), table), not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
