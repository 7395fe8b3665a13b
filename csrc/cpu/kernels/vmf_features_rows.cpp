// SPDX-License-Identifier: MIT
// Raw features to mean directions and concentrations (csrc/math/features.h), and the gradients back.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "cpu/kernels/tiles.h"
#include "math/features.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

// Registers whose products are added up before the sum is compensated, so that a direction has unit
// length to a few eps at every m.
constexpr int64_t kRunRegisters = 16;

// The sum of term(j-th register of a row) over m columns; registers from memory, the last filled up
// with zeros.
template <class V, class Term>
SVMF_INLINE ScalarOf<V> row_sum(int64_t m, Term term) {
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  V total(0), carry(0);
  for (int64_t start = 0; start < m; start += kRunRegisters * kWidth) {
    const int64_t end = std::min(m, start + kRunRegisters * kWidth);
    V even(0), odd(0);
    int64_t j = start;
    for (; j + 2 * kWidth <= end; j += 2 * kWidth) {
      even = term(j, kWidth, even);
      odd = term(j + kWidth, kWidth, odd);
    }
    for (; j < end; j += kWidth) even = term(j, std::min(kWidth, end - j), even);
    const V sum = even + odd, next = total + sum;
    carry += (total - next) + sum;
    total = next;
  }
  return sum_lanes(total + carry);
}

// `count` columns from p on; whole registers without a mask.
template <class V>
SVMF_INLINE V load_columns(const ScalarOf<V>* p, int64_t count) {
  return count == Lanes<V>::kWidth ? V::load(p) : V::load_or_zero(p, count);
}

template <class V>
SVMF_INLINE void store_columns(V x, ScalarOf<V>* p, int64_t count) {
  if (count == Lanes<V>::kWidth)
    x.store(p);
  else
    x.store_first(p, count);
}

template <class S>
S scaled_square(const S* row, S scale, int64_t m) {
  using V = RowVec<S>;
  return row_sum<V>(m, [=](int64_t j, int64_t count, V sum) {
    const V x = load_columns<V>(row + j, count) * V(scale);
    return mul_add(x, x, sum);
  });
}

// out[i] = f(raw concentration of row begin + i, out[i]).
template <class S, class F>
SVMF_INLINE void map_concentrations(const FeatureArguments<S>& task, int64_t begin, int64_t end,
                                    S* out, F f) {
  using V = Twin<RowVec<S>>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  for (int64_t r = begin; r < end; r += kWidth) {
    const int64_t count = std::min(kWidth, end - r);
    const S* raw = task.raw_kappa + r * task.raw_kappa_stride;
    alignas(64) S gathered[kWidth];
    if (task.raw_kappa_stride != 1) {
      for (int64_t i = 0; i < count; ++i) gathered[i] = raw[i * task.raw_kappa_stride];
      raw = gathered;
    }
    f(V::load_first(raw, count, S(0)), V::load_first(out + r, count, S(0)))
        .store_first(out + r, count);
  }
}

// Few columns: everything lane = row (tiles.h).
template <int kColumns, class S>
SVMF_INLINE void few_columns(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  using V = RowVec<S>;
  using Columns = Tiles<kColumns, S>;
  constexpr int kWidth = Lanes<V>::kWidth;
  const S* const raw_end = task.raw + (task.batch - 1) * task.raw_stride + kColumns;
  for (int64_t r = begin; r < end; r += kWidth) {
    const int n = static_cast<int>(std::min<int64_t>(kWidth, end - r));
    V x[Columns::kPadded];
    if (task.raw_stride == kColumns) {
      Columns::load(task.raw + r * kColumns, n, raw_end, x);
    } else {
      const S* rows[kWidth];
      for (int i = 0; i < kWidth; ++i)
        rows[i] = task.raw + (r + std::min(i, n - 1)) * task.raw_stride;
      Columns::load(rows, raw_end, x);
    }
    const auto square_length = [&] {
      V square = x[0] * x[0];
      for (int j = 1; j < kColumns; ++j) square = mul_add(x[j], x[j], square);
      return square;
    };
    V square = square_length();
    const V scale = direction_scale(square);
    if (!all(scale == V(1))) {
      for (int j = 0; j < kColumns; ++j) x[j] = x[j] * scale;
      square = square_length();
    }
    const RowDirection<V> found = row_direction(square, scale);
    for (int j = 0; j < kColumns; ++j) x[j] = x[j] * found.inverse;
    x[0] = x[0] + found.first;
    Columns::store(x, task.loc + r * kColumns, n, task.loc + end * kColumns);
    found.length.store_first(task.length + r, n);
  }
}

template <int kColumns, class S>
SVMF_INLINE void few_columns_backward(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  using V = RowVec<S>;
  using Columns = Tiles<kColumns, S>;
  constexpr int kWidth = Lanes<V>::kWidth;
  for (int64_t r = begin; r < end; r += kWidth) {
    const int n = static_cast<int>(std::min<int64_t>(kWidth, end - r));
    V loc[Columns::kPadded], grad[Columns::kPadded];
    Columns::load(task.loc + r * kColumns, n, task.loc + task.batch * kColumns, loc);
    Columns::load(task.grad + r * kColumns, n, task.grad + end * kColumns, grad);
    V along = loc[0] * grad[0];
    for (int j = 1; j < kColumns; ++j) along = mul_add(loc[j], grad[j], along);
    const V slope = direction_slope(V::load_first(task.length + r, n, S(1)));
    for (int j = 0; j < kColumns; ++j) grad[j] = mul_add(-along, loc[j], grad[j]) * slope;
    // Not past the group: what stands there has not been read.
    Columns::store(grad, task.grad + r * kColumns, n, task.grad + (r + n) * kColumns);
  }
}

// Many columns: along the rows.
template <class S>
void many_columns(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const int64_t m = task.m;
  for (int64_t r = begin; r < end; ++r) {
    const S* const row = task.raw + r * task.raw_stride;
    S* const loc = task.loc + r * m;
    S square = scaled_square(row, S(1), m);
    const S scale = direction_scale(square);
    if (scale != S(1)) square = scaled_square(row, scale, m);
    const RowDirection<S> found = row_direction(square, scale);
    task.length[r] = found.length;
    for (int64_t j = 0; j < m; j += kWidth) {
      const int64_t count = std::min(kWidth, m - j);
      store_columns(load_columns<V>(row + j, count) * V(scale) * V(found.inverse), loc + j, count);
    }
    if (found.first != S(0)) loc[0] = found.first;
  }
}

template <class S>
void many_columns_backward(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const int64_t m = task.m;
  for (int64_t r = begin; r < end; ++r) {
    const S* const loc = task.loc + r * m;
    S* const grad = task.grad + r * m;
    const S along = row_sum<V>(m, [=](int64_t j, int64_t count, V sum) {
      return mul_add(load_columns<V>(loc + j, count), load_columns<V>(grad + j, count), sum);
    });
    const V slope(direction_slope(task.length[r]));
    for (int64_t j = 0; j < m; j += kWidth) {
      const int64_t count = std::min(kWidth, m - j);
      const V across =
          mul_add(V(-along), load_columns<V>(loc + j, count), load_columns<V>(grad + j, count));
      store_columns(across * slope, grad + j, count);
    }
  }
}

}  // namespace

template <class S>
void vmf_features_rows(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  with_columns<S>(task.m, [&](auto columns) {
    if constexpr (decltype(columns)::value != 0)
      few_columns<decltype(columns)::value>(task, begin, end);
    else
      many_columns(task, begin, end);
  });
  map_concentrations(task, begin, end, task.kappa,
                     [&](auto raw, auto) { return decltype(raw)(task.offset) + softplus(raw); });
}

template <class S>
void vmf_features_backward_rows(const FeatureArguments<S>& task, int64_t begin, int64_t end) {
  with_columns<S>(task.m, [&](auto columns) {
    if constexpr (decltype(columns)::value != 0)
      few_columns_backward<decltype(columns)::value>(task, begin, end);
    else
      many_columns_backward(task, begin, end);
  });
  map_concentrations(task, begin, end, task.grad_kappa,
                     [](auto raw, auto grad) { return grad * softplus_slope(raw); });
}

template void vmf_features_rows(const FeatureArguments<float>&, int64_t, int64_t);
template void vmf_features_rows(const FeatureArguments<double>&, int64_t, int64_t);
template void vmf_features_backward_rows(const FeatureArguments<float>&, int64_t, int64_t);
template void vmf_features_backward_rows(const FeatureArguments<double>&, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
