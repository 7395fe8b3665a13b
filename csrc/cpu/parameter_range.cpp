// SPDX-License-Identifier: MIT
// The ranges by which svmf.distributions checks its parameters: the least and the largest norm of a
// row of loc, and the least and the largest kappa; nan where there is one. One pass, and numbers
// instead of tensors as results: at 64 rows the same in torch reductions costs as much as drawing
// the samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <tuple>

#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"

namespace svmf::cpu {

namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_nan = false;

  void add(double x) {
    low = x < low ? x : low;
    high = x > high ? x : high;
    has_nan |= x != x;
  }
  void add(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    has_nan |= other.has_nan;
  }
  double lower() const { return has_nan ? std::numeric_limits<double>::quiet_NaN() : low; }
  double upper() const { return has_nan ? std::numeric_limits<double>::quiet_NaN() : high; }
};

// Eight partial sums: one would wait for every addition.
template <class S>
double norm(const S* row, int64_t m) {
  constexpr int64_t kLanes = 8;
  S sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= m; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += row[i + lane] * row[i + lane];
  double total = 0;
  for (; i < m; ++i) total += static_cast<double>(row[i]) * row[i];
  for (const S sum : sums) total += sum;
  return std::sqrt(total);
}

}  // namespace

FourNumbers parameter_range(const Tensor& loc, const Tensor& kappa) {
  constexpr const char* kOp = "_parameter_range";
  check_floating(kOp, "loc", loc);
  check_vectors(kOp, "loc", loc);
  check_pair(kOp, "kappa", kappa, "loc", loc);
  check_row_shape(kOp, "kappa", kappa, "loc", loc);
  const Tensor locs = to_compute_type(loc), kappas = to_compute_type(kappa);
  const int64_t m = loc.size(loc.dim() - 1);
  Range norms, concentrations;
  std::mutex merging;
  with_compute_type(locs, [&](auto type) {
    using S = decltype(type);
    const S *mu = data<S>(locs), *k = data<S>(kappas);
    for_ranges(kappas.numel(), std::max<int64_t>(1, 65536 / m), [&](int64_t begin, int64_t end) {
      Range row_norms, row_kappas;
      for (int64_t row = begin; row < end; ++row) {
        row_norms.add(norm(mu + row * m, m));
        row_kappas.add(k[row]);
      }
      const std::lock_guard<std::mutex> lock(merging);
      norms.add(row_norms);
      concentrations.add(row_kappas);
    });
  });
  return {norms.lower(), norms.upper(), concentrations.lower(), concentrations.upper()};
}

}  // namespace svmf::cpu
