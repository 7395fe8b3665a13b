// SPDX-License-Identifier: MIT
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): four random
// words as a pure function of a 64-bit key and a 128-bit counter. svmf counts (row, block, purpose)
// and keys with the seed, so the words of a row depend on nothing else: not on threads, not on the
// batch around it, not on the device (docs/rng.md).
//
// Known answer, counter 0 and key 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
#pragma once

#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

// What the words of a block are used for; the fourth counter word.
enum : uint32_t { kPurposeProposal = 0, kPurposeDirection = 1 };

template <class W>
struct PhiloxBlock {
  W word[4];
};

// K independent blocks at once: their chains are long, and side by side they fill the pipeline.
template <int K, class W>
SVMF_INLINE void philox(PhiloxBlock<W> (&block)[K], uint64_t key) {
  uint32_t key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  SVMF_UNROLL
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < K; ++i) {
      W(&c)[4] = block[i].word;
      W high0, low0, high1, low1;
      multiply_words(c[0], 0xD2511F53u, &high0, &low0);
      multiply_words(c[2], 0xCD9E8D57u, &high1, &low1);
      c[0] = high1 ^ c[1] ^ W(key0);
      c[1] = low1;
      c[2] = high0 ^ c[3] ^ W(key1);
      c[3] = low0;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
