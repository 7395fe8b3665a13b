// SPDX-License-Identifier: MIT
// The pathwise derivative in float32: one polynomial in two variables per piece of the kappa axis.
//
// With P = c/(c + 2 kappa), c = nu + 14, and X = nu (1 + P) + kappa (1 + w), the ratio
//     R = X (dw/dkappa)/(1-w^2)
// lies near 1. It is smooth in P and
//     z = P(1-w)/(P(1-w) + (1+w))
// over all of kappa in [0, inf) and w in [-1, 1]: z stretches the layer at w = -1, whose width is
// 1/kappa.
//
// In piece i, an eighth of the axis Q = 1 - P, the fit is a polynomial in t = 8Q - i - 1/2 and in
// x, which maps the range of z where the density is not negligible to [-1, 1]. Beyond that range x
// is clamped: R stays within a factor of 2 there. tests/math/test_pathwise_switches.py goes along
// the edges of the pieces.
#pragma once

#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class Scalar>
struct PathwiseTable;

inline constexpr int kFitPieces = 8;  // one permute instruction picks one of 8 floats per lane
inline constexpr int kMaxFitColumns = 22;
inline constexpr int kMaxFitCoefficients = 112;

template <>
struct PathwiseTable<float> {
  float nu;
  float c;
  int columns;                       // powers of x
  int columns_of_piece[kFitPieces];  // those that one piece needs
  int rows[kMaxFitColumns];          // powers of t that stand with x^j
  int start[kMaxFitColumns];         // where they start: highest j first, highest power first
  // x = (weight_below P(1-w) - weight_above (1+w))/(P(1-w) + (1+w))
  float weight_below[kFitPieces];
  float weight_above[kFitPieces];
  alignas(32) float coefficient[kMaxFitCoefficients][kFitPieces];
};

namespace pathwise {

SVMF_INLINE int32_t first_lane(int32_t i) { return i; }
template <class I>
SVMF_INLINE int32_t first_lane(I i) {
  return i[0];
}

// The polynomial, with the coefficients that `pick` takes from each row of eight.
template <class V, class Pick>
SVMF_INLINE V fitted_polynomial(V x, V t, int columns, const PathwiseTable<float>& table,
                                Pick pick) {
  const float (*row)[kFitPieces] = table.coefficient + table.start[columns - 1];
  V sum(0);
  for (int j = columns - 1; j >= 0; --j) {
    V inner = pick(*row++);
    for (int i = table.rows[j] - 1; i > 0; --i) inner = mul_add(inner, t, pick(*row++));
    sum = mul_add(sum, x, inner);
  }
  return sum;
}

// (dw/dkappa)/(1-w^2) = R/X. kappa = 0: exactly 1/(2 nu).
template <class V>
struct FittedSlope {
  V R;
  V X;
};

template <class V>
SVMF_INLINE FittedSlope<V> fitted(V one_minus_w, V one_plus_w, V kappa,
                                  const PathwiseTable<float>& table) {
  using I = IntOf<V>;
  const auto zero = kappa == V(0);
  const V c(table.c), nu(table.nu);
  const V inverse = V(1) / mul_add(kappa, V(2), c);
  const V P = select(zero, V(1), c * inverse);
  const V Q = (kappa + kappa) * inverse;
  // floor(8Q): adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. The factor a
  // little below 8 keeps Q = 1 in the last piece.
  constexpr float kRound = 0x1.8p23f;
  const V shifted = mul_add(Q, V(7.9999f), V(-0.5f)) + V(kRound);
  const I index = to_bits(shifted) & I(kFitPieces - 1);
  const V t = mul_add(Q, V(8), V(kRound) - shifted) - V(0.5f);

  const RowIndex<V> piece(index);
  const V scaled = P * one_minus_w;
  const V numerator = mul_add(piece.pick(table.weight_below), scaled,
                              -(piece.pick(table.weight_above) * one_plus_w));
  const V x = minimum(maximum(numerator / (scaled + one_plus_w), V(-1)), V(1));
  V R;
  const int32_t first = first_lane(index);
  if (all(index == I(first))) {
    // Rows of one batch often have kappas of one size: then no permutes, and the columns of that
    // piece alone.
    R = fitted_polynomial(x, t, table.columns_of_piece[first], table,
                          [first](const float* row) { return V(row[first]); });
  } else {
    R = fitted_polynomial(x, t, table.columns, table,
                          [&piece](const float* row) { return piece.pick(row); });
  }
  const V X = mul_add(kappa, one_plus_w, mul_add(nu, P, nu));
  return {select(zero, V(1), R), X};
}

}  // namespace pathwise

}  // namespace SVMF_ISA
}  // namespace svmf
