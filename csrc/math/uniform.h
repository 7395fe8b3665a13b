// SPDX-License-Identifier: MIT
// Random words to uniform numbers. float takes one word of a block, double takes two. Positions are
// counted in units of the type ("draw" 0..3 for float, 0..1 for double), so that both use whole
// blocks.
#pragma once

#include "math/philox.h"

namespace svmf {
inline namespace SVMF_ISA {

// Uniform numbers that one Philox block yields.
template <class Scalar>
inline constexpr int kDrawsPerBlock = sizeof(Scalar) == 4 ? 4 : 2;

// [1, 2) from 52 bits of two words, double only.
template <class V>
SVMF_INLINE V one_to_two(const PhiloxBlock<WordOf<V>>& block, int draw) {
  using W = WordOf<V>;
  const W word = shift_left(block.word[2 * draw], 32) | block.word[2 * draw + 1];
  return from_bits(shift_right(word, 12) | W(uint64_t(0x3ff0000000000000)));
}

// (2n + 1)/2^32 for an n of 31 bits, float only.
template <class V>
SVMF_INLINE V odd_fraction(WordOf<V> n) {
  return mul_add(signed_to_real(n), V(0x1p-31f), V(0x1p-32f));
}

// In (0, 1], with full relative resolution near 0: the smallest value is 2^-32 (float) or 2^-53
// (double).
template <class V>
SVMF_INLINE V open_uniform(const PhiloxBlock<WordOf<V>>& block, int draw) {
  if constexpr (sizeof(ScalarOf<V>) == 4)
    return odd_fraction<V>(shift_right(block.word[draw], 1));
  else
    return one_to_two<V>(block, draw) - V(1.0 - 0x1p-53);
}

// u in (0, 1) and 1 - u, both with full relative resolution near 0.
template <class V>
SVMF_INLINE void uniform_pair(const PhiloxBlock<WordOf<V>>& block, int draw, V* u, V* v) {
  using W = WordOf<V>;
  if constexpr (sizeof(ScalarOf<V>) == 4) {
    const W n = shift_right(block.word[draw], 1);
    *u = odd_fraction<V>(n);
    *v = odd_fraction<V>(W(0x7fffffffu) - n);
  } else {
    *u = open_uniform<V>(block, draw);
    *v = V(1.0) - *u;  // exact: u is a multiple of 2^-53
  }
}

// An angle in turns, uniform in [-1/2, 1/2).
template <class V>
SVMF_INLINE V uniform_turns(const PhiloxBlock<WordOf<V>>& block, int draw) {
  if constexpr (sizeof(ScalarOf<V>) == 4)
    return signed_to_real(block.word[draw]) * V(0x1p-32f);
  else
    return one_to_two<V>(block, draw) - V(1.5);
}

}  // namespace SVMF_ISA
}  // namespace svmf
