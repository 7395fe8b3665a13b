// SPDX-License-Identifier: MIT
// Random words to uniform numbers. float takes one word of a block, double takes two: positions are
// counted in units of the type ("draw" 0..3 for float, 0..1 for double), so that both use whole
// blocks.
#pragma once

#include "math/philox.h"

namespace svmf {
inline namespace SVMF_ISA {

// Uniform numbers that one Philox block yields.
template <class Scalar>
inline constexpr int kDrawsPerBlock = sizeof(Scalar) == 4 ? 4 : 2;

// A signed 31- or 32-bit integer as a number.
SVMF_INLINE float int_to_real(int32_t x) { return static_cast<float>(x); }

// In (0, 1], with full relative resolution near 0: the smallest value is 2^-32 (float) or 2^-53
// (double).
SVMF_INLINE float open_uniform(const PhiloxBlock<uint32_t>& block, int draw, float) {
  return mul_add(int_to_real(static_cast<int32_t>(block.word[draw] >> 1)), 0x1p-31f, 0x1p-32f);
}
SVMF_INLINE double open_uniform(const PhiloxBlock<uint64_t>& block, int draw, double) {
  const uint64_t word = (block.word[2 * draw] << 32) | block.word[2 * draw + 1];
  return from_bits(static_cast<int64_t>((word >> 12) | 0x3ff0000000000000ull)) - (1.0 - 0x1p-53);
}

// u in (0, 1) and 1 - u, both with full relative resolution near 0.
SVMF_INLINE void uniform_pair(const PhiloxBlock<uint32_t>& block, int draw, float* u, float* v) {
  const int32_t n = static_cast<int32_t>(block.word[draw] >> 1);
  *u = mul_add(int_to_real(n), 0x1p-31f, 0x1p-32f);
  *v = mul_add(int_to_real(0x7fffffff - n), 0x1p-31f, 0x1p-32f);
}
SVMF_INLINE void uniform_pair(const PhiloxBlock<uint64_t>& block, int draw, double* u, double* v) {
  *u = open_uniform(block, draw, 0.0);
  *v = 1.0 - *u;  // exact: u is a multiple of 2^-53
}

// An angle in turns, uniform in [-1/2, 1/2).
SVMF_INLINE float uniform_turns(const PhiloxBlock<uint32_t>& block, int draw, float) {
  return int_to_real(static_cast<int32_t>(block.word[draw])) * 0x1p-32f;
}
SVMF_INLINE double uniform_turns(const PhiloxBlock<uint64_t>& block, int draw, double) {
  const uint64_t word = (block.word[2 * draw] << 32) | block.word[2 * draw + 1];
  return from_bits(static_cast<int64_t>((word >> 12) | 0x3ff0000000000000ull)) - 1.5;
}

}  // namespace SVMF_ISA
}  // namespace svmf
