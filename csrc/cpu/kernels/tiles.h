// SPDX-License-Identifier: MIT
// Rows of few columns in memory to lanes and back: column j of N rows becomes one register, by N x
// N transposes. The number of columns is known at compile time, so that everything stays in
// registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "simd/transpose.h"

namespace svmf {
inline namespace SVMF_ISA {

// From this many columns on, work runs along the rows instead: two registers, which a row then
// fills.
template <class S>
inline constexpr int kFewColumns =
    2 * Lanes<RowVec<S>>::kWidth < 16 ? 2 * Lanes<RowVec<S>>::kWidth : 16;

// Calls f(integral_constant<int, m>) for 2 <= m < kFewColumns, else f(integral_constant<int, 0>).
template <class S, int kColumns = 2, class F>
SVMF_INLINE void with_columns(int64_t m, F f) {
  if constexpr (kColumns >= kFewColumns<S>) {
    f(std::integral_constant<int, 0>{});
  } else {
    if (m == kColumns)
      f(std::integral_constant<int, kColumns>{});
    else
      with_columns<S, kColumns + 1>(m, f);
  }
}

template <int kColumns, class S>
struct Tiles {
  using V = RowVec<S>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  // More columns than a register has lanes: the first N and the last N, which overlap.
  static constexpr bool kTwo = kColumns > kWidth;
  static constexpr int kSecond = kTwo ? kColumns - kWidth : 0;
  static constexpr int kPadded = kTwo ? kColumns : kWidth;

  // rows[i] points to row i; reading past a row is allowed up to `end`.
  static SVMF_INLINE void load(const S* const* rows, const S* end, V* columns) {
    if constexpr (kColumns == 2) {
      if (rows[kWidth - 1] == rows[0] + 2 * (kWidth - 1)) {
        split_pairs(V::load(rows[0]), V::load(rows[0] + kWidth), &columns[0], &columns[1],
                    std::make_integer_sequence<int, kWidth>{});
        return;
      }
    }
    V tile[kWidth];
    if constexpr (kTwo) {
      for (int i = 0; i < kWidth; ++i) tile[i] = V::load(rows[i] + kSecond);
      transpose(tile);
      for (int j = 0; j < kWidth; ++j) columns[kSecond + j] = tile[j];
    }
    for (int i = 0; i < kWidth; ++i) {
      tile[i] = rows[i] + kWidth <= end ? V::load(rows[i]) : V::load_first(rows[i], kColumns, S(0));
    }
    transpose(tile);
    for (int j = 0; j < (kTwo ? kWidth : kColumns); ++j) columns[j] = tile[j];
  }

  // n rows in a row from `base`. Storing past a row is allowed up to `end`: the rows behind are
  // stored later.
  static SVMF_INLINE void store(const V* columns, S* base, int n, S* end) {
    if constexpr (kColumns == 2) {
      if (n == kWidth) {
        V first, second;
        join_pairs(columns[0], columns[1], &first, &second,
                   std::make_integer_sequence<int, kWidth>{});
        first.store(base);
        second.store(base + kWidth);
        return;
      }
    }
    V tile[kWidth];
    if constexpr (kTwo) {
      for (int j = 0; j < kWidth; ++j) tile[j] = columns[kSecond + j];
      transpose(tile);
      for (int i = 0; i < n; ++i) tile[i].store(base + i * kColumns + kSecond);
    }
    for (int j = 0; j < kWidth; ++j) tile[j] = columns[j < kColumns ? j : 0];
    transpose(tile);
    for (int i = 0; i < n; ++i) {
      S* row = base + i * kColumns;
      if (kTwo || row + kWidth <= end)
        tile[i].store(row);
      else
        tile[i].store_first(row, kColumns);
    }
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
