// SPDX-License-Identifier: MIT
// Philox blocks on the device: the counters of csrc/math/philox.h, so the words are those of the
// CPU. The rounds run on 32-bit words for both types; beside double a word is widened afterwards.
#pragma once

#include <cstdint>

#include "math/philox.h"

namespace svmf {
inline namespace SVMF_ISA {

// K blocks of one row, from `first_block` on.
template <class S, int K>
__device__ __forceinline__ void draw_blocks(uint64_t seed, uint64_t row, uint32_t first_block,
                                            uint32_t purpose, PhiloxBlock<WordOf<S>> (&blocks)[K]) {
  PhiloxBlock<uint32_t> words[K];
  for (int k = 0; k < K; ++k) {
    words[k] = {
        {static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32), first_block + k, purpose}};
  }
  philox(words, seed);
  for (int k = 0; k < K; ++k) {
    for (int i = 0; i < 4; ++i) blocks[k].word[i] = words[k].word[i];
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
