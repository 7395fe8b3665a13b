// SPDX-License-Identifier: MIT
// The tables of the pathwise derivative (csrc/math/pathwise_table.h). Making one takes up to 0.3 ms
// (double) or 2 ms (float), so the last few are kept.
#pragma once

#include "common/table_cache.h"
#include "math/pathwise_table.h"

namespace svmf {
inline namespace SVMF_ISA {

// Zero to begin with: nothing runs when the module is loaded, or on first use.
template <class Scalar>
inline TableCache<PathwiseTable<Scalar>, 32> pathwise_tables;

// The table of the sphere in R^m, m >= 2.
template <class Scalar>
inline PathwiseTable<Scalar> pathwise_table(int64_t m) {
  return pathwise_tables<Scalar>.get(
      m, [](int64_t number) { return make_pathwise_table<Scalar>(number); });
}

}  // namespace SVMF_ISA
}  // namespace svmf
