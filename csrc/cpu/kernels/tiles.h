// SPDX-License-Identifier: MIT
// Rows of few columns in memory to lanes and back: column j of N rows becomes one register, by N x
// N transposes. The number of columns is known at compile time, so that everything stays in
// registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "simd/vec.h"

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

  // n rows one behind the other from `first` on; reading past a row is allowed up to `end`. Lanes
  // from n on are some row.
  static SVMF_INLINE void load(const S* first, int n, const S* end, V* columns) {
    if (first + (kWidth - 1) * kColumns + kWidth > end) {
      const S* rows[kWidth];
      for (int i = 0; i < kWidth; ++i) rows[i] = first + (i < n ? i : n - 1) * kColumns;
      load(rows, end, columns);
    } else if constexpr (kColumns == 2) {
      split_pairs(V::load(first), V::load(first + kWidth), &columns[0], &columns[1]);
    } else {
      load_tiles([&](int i) { return V::load(first + i * kColumns); },
                 [&](int i) { return V::load(first + i * kColumns + kSecond); }, columns);
    }
  }

  // Row i from rows[i] on, under the same permission.
  static SVMF_INLINE void load(const S* const* rows, const S* end, V* columns) {
    load_tiles(
        [&](int i) {
          return rows[i] + kWidth <= end ? V::load(rows[i])
                                         : V::load_first(rows[i], kColumns, S(0));
        },
        [&](int i) { return V::load(rows[i] + kSecond); }, columns);
  }

  // n rows in a row from `base`. Storing past a row is allowed up to `end`: the rows behind are
  // stored later.
  static SVMF_INLINE void store(const V* columns, S* base, int n, S* end) {
    if constexpr (kColumns == 2) {
      if (n == kWidth) {
        V first, second;
        join_pairs(columns[0], columns[1], &first, &second);
        first.store(base);
        second.store(base + kWidth);
        return;
      }
    }
    const bool whole = n == kWidth && base + (kWidth - 1) * kColumns + kWidth <= end;
    V tile[kWidth];
    if constexpr (kTwo) {
      for (int j = 0; j < kWidth; ++j) tile[j] = columns[kSecond + j];
      transpose(tile);
      if (whole) {
        for (int i = 0; i < kWidth; ++i) tile[i].store(base + i * kColumns + kSecond);
      } else {
        for (int i = 0; i < n; ++i) tile[i].store(base + i * kColumns + kSecond);
      }
    }
    for (int j = 0; j < kWidth; ++j) tile[j] = columns[j < kColumns ? j : 0];
    transpose(tile);
    if (whole) {
      for (int i = 0; i < kWidth; ++i) tile[i].store(base + i * kColumns);
      return;
    }
    for (int i = 0; i < n; ++i) {
      S* row = base + i * kColumns;
      if (kTwo || row + kWidth <= end)
        tile[i].store(row);
      else
        tile[i].store_first(row, kColumns);
    }
  }

 private:
  template <class First, class Second>
  static SVMF_INLINE void load_tiles(First first, Second second, V* columns) {
    V tile[kWidth];
    if constexpr (kTwo) {
      for (int i = 0; i < kWidth; ++i) tile[i] = second(i);
      transpose(tile);
      for (int j = 0; j < kWidth; ++j) columns[kSecond + j] = tile[j];
    }
    for (int i = 0; i < kWidth; ++i) tile[i] = first(i);
    transpose(tile);
    for (int j = 0; j < (kTwo ? kWidth : kColumns); ++j) columns[j] = tile[j];
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
