// SPDX-License-Identifier: MIT
// The Philox counters of the rows in a vector lane type.
#pragma once

#include "math/philox.h"

namespace svmf {
inline namespace SVMF_ISA {

// The row's half of the counters; the block and the purpose complete them.
template <class V>
struct RowCounters {
  using W = WordOf<V>;
  using Word = WordOf<ScalarOf<V>>;
  W low, high;

  // Consecutive rows.
  SVMF_INLINE explicit RowCounters(uint64_t first_row) : RowCounters(first_row, lane_numbers()) {}
  // Rows first_row + offset, offset < 2^31.
  SVMF_INLINE RowCounters(uint64_t first_row, W offset) {
    const W start(static_cast<uint32_t>(first_row)), upper(static_cast<uint32_t>(first_row >> 32));
    const W sum = start + offset;
    // A carry into the upper word: of 32 bits by comparison, of 64 bits by itself.
    if constexpr (sizeof(Word) == 4) {
      low = sum;
      high = upper + select(sum < start, W(1), W(0));
    } else {
      low = sum & W(0xffffffffu);
      high = upper + shift_right(sum, 32);
    }
  }

  // 0, 1, ... N-1.
  SVMF_INLINE static W lane_numbers() {
    static_assert(Lanes<V>::kWidth <= 32);
    alignas(64) static constexpr Word kSteps[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    return W::load(kSteps);
  }

  SVMF_INLINE PhiloxBlock<W> block(uint32_t index, uint32_t purpose) const {
    return {{low, high, W(index), W(purpose)}};
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
