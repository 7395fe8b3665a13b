// SPDX-License-Identifier: MIT
// The shape of every elementwise op on the CPU: contiguous input, one output, ranges in parallel,
// half types through float. The caller names the row kernel.
#pragma once

#include <algorithm>

#include "common/tensors.h"
#include "cpu/isa.h"

namespace svmf::cpu {

// About 20 us of work: below that a second thread costs more than it brings.
inline constexpr int64_t kElementGrain = 2048;

// f(begin, end) over ranges of [0, n), in parallel where that pays.
template <class F>
void for_ranges(int64_t n, int64_t grain, F f) {
  if (n <= grain) {
    if (n > 0) f(int64_t{0}, n);
  } else {
    torch::stable::parallel_for(0, n, grain, f);
  }
}

// The same over elements, in ranges that begin at whole groups: which elements share a register,
// and with it the last bit of a function that chooses its method per register, does not depend on
// the number of threads.
template <class F>
void for_elements(int64_t n, F f) {
  constexpr int64_t kGroup = 64;
  for_ranges((n + kGroup - 1) / kGroup, kElementGrain / kGroup,
             [&](int64_t begin, int64_t end) { f(begin * kGroup, std::min(end * kGroup, n)); });
}

// out = range(in, out, n) over ranges of one input.
template <class F>
Tensor map_elements(const Tensor& input, F range) {
  const Tensor x = to_compute_type(input);
  const Tensor out = empty_like_contiguous(x);
  with_compute_type(x, [&](auto type) {
    using S = decltype(type);
    const S* in = data<S>(x);
    S* result = mutable_data<S>(out);
    for_elements(x.numel(), [&](int64_t begin, int64_t end) {
      range(row_kernels<S>(), in + begin, result + begin, end - begin);
    });
  });
  return to_result_type(out, input.scalar_type());
}

// The same with two inputs of one shape and dtype.
template <class F>
Tensor map_elements(const Tensor& input1, const Tensor& input2, F range) {
  const Tensor x = to_compute_type(input1), y = to_compute_type(input2);
  const Tensor out = empty_like_contiguous(y);
  with_compute_type(x, [&](auto type) {
    using S = decltype(type);
    const S *in1 = data<S>(x), *in2 = data<S>(y);
    S* result = mutable_data<S>(out);
    for_elements(x.numel(), [&](int64_t begin, int64_t end) {
      range(row_kernels<S>(), in1 + begin, in2 + begin, result + begin, end - begin);
    });
  });
  return to_result_type(out, input1.scalar_type());
}

// Rows per task so that a task has about 16k elements.
inline int64_t row_grain(int64_t m) { return std::max<int64_t>(1, 16384 / m); }

// Log densities of rows of vectors; choose(kernels) is the row kernel.
template <class F>
Tensor log_prob_of_rows(const Tensor& value, const Tensor& loc, const Tensor& kappa, F choose) {
  const Tensor xs = to_compute_type(value), locs = to_compute_type(loc),
               kappas = to_compute_type(kappa);
  const Tensor out = empty_like_contiguous(kappas);
  const int64_t m = value.size(value.dim() - 1);
  with_compute_type(xs, [&](auto type) {
    using S = decltype(type);
    const S *x = data<S>(xs), *mu = data<S>(locs), *k = data<S>(kappas);
    S* y = mutable_data<S>(out);
    for_ranges(kappas.numel(), std::min<int64_t>(1024, row_grain(m)),
               [&](int64_t begin, int64_t end) {
                 choose(row_kernels<S>())(x + begin * m, mu + begin * m, k + begin, y + begin,
                                          end - begin, m);
               });
  });
  return to_result_type(out, value.scalar_type());
}

}  // namespace svmf::cpu
