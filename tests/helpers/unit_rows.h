// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

// Unit rows that differ from each other; any would do.
template <class S>
std::vector<S> unit_rows(int64_t rows, int64_t m) {
  std::vector<S> values(static_cast<size_t>(rows * m));
  for (int64_t r = 0; r < rows; ++r) {
    S* row = values.data() + r * m;
    S sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      row[j] = std::sin(static_cast<S>(r + 3 * j + 1));
      sum += row[j] * row[j];
    }
    for (int64_t j = 0; j < m; ++j) row[j] /= std::sqrt(sum);
  }
  return values;
}
