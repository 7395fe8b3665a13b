// SPDX-License-Identifier: MIT
// From raw features, as a network gives them, to the parameters of a distribution on the sphere:
// the direction of a vector of any length, and a concentration kappa = offset + softplus(x). The
// twin of svmf/_direction.py.
//
// A zero vector has no direction, and beside it the derivative of x/|x| grows as 1/|x|. Here zero
// points along the first axis, and the derivative is that of a vector of length kShortest wherever a
// vector is shorter: along the sphere, but bounded.
//
// Squares of a long or a short row leave the range of its type; such a row is scaled by a power of
// two first. In float64 a row shorter than 1e-315 counts as zero.
#pragma once

#include "math/elementary.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace features {

template <class Scalar>
inline constexpr Scalar kShortest = Scalar(0.01);
// Squared lengths between which a row is taken as it stands.
template <class Scalar>
inline constexpr Scalar kShortSquare = Scalar(1e-24);
template <class Scalar>
inline constexpr Scalar kLongSquare = Scalar(1e36);
template <class Scalar>
inline constexpr Scalar kUp = Scalar(sizeof(Scalar) == 4 ? 0x1p100 : 0x1p538);
template <class Scalar>
inline constexpr Scalar kDown = Scalar(sizeof(Scalar) == 4 ? 0x1p-100 : 0x1p-538);

}  // namespace features

// Entries times this can be squared without leaving the range; 1 for nearly every row.
template <class V>
SVMF_INLINE V direction_scale(V square) {
  using S = ScalarOf<V>;
  // An inf or, from a compensated sum, its nan is too long.
  const V unless_short = select(square < V(features::kLongSquare<S>), V(1), V(features::kDown<S>));
  return select(square <= V(features::kShortSquare<S>), V(features::kUp<S>), unless_short);
}

// Column j of the direction is (x_j scale) inverse, plus `first` for j = 0.
template <class V>
struct RowDirection {
  V inverse, first, length;
};

// From the squared length of the scaled row. nan for a row with a value that is not finite.
template <class V>
SVMF_INLINE RowDirection<V> row_direction(V scaled_square, V scale) {
  using S = ScalarOf<V>;
  constexpr S kTiny = sizeof(S) == 4 ? S(0x1p-126) : S(0x1p-1022);
  const auto nothing = scaled_square < V(kTiny);
  const V length = square_root(scaled_square);
  const V inverse = select(scaled_square < infinity<V>(), V(1) / length, not_a_number<V>());
  return {select(nothing, V(0), inverse), select(nothing, V(1), V(0)),
          select(nothing, V(0), length / scale)};
}

// What the gradient in the direction is multiplied by, after its part along the direction is gone.
template <class V>
SVMF_INLINE V direction_slope(V length) {
  return V(1) / maximum(length, V(features::kShortest<ScalarOf<V>>));
}

// softplus(x) = log(1 + e^x), without overflow; relative error 4 eps.
template <class V>
SVMF_INLINE V softplus(V x) {
  return maximum(x, V(0)) + log1p_positive(exponential(-absolute(x)));
}

// Its derivative 1/(1 + e^-x), to the same error.
template <class V>
SVMF_INLINE V softplus_slope(V x) {
  const V e = exponential(-absolute(x));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}

}  // namespace SVMF_ISA
}  // namespace svmf
