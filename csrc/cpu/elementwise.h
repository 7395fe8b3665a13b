// SPDX-License-Identifier: MIT
// The shape of every elementwise op on the CPU: contiguous input, one output, ranges in parallel, half types through
// float. The caller names the row kernel.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "common/check.h"
#include "cpu/isa.h"

namespace svmf {

inline bool is_half_type(ScalarType type) { return type == ScalarType::Half || type == ScalarType::BFloat16; }

// bfloat16 and float16 are computed in float32.
inline Tensor to_compute_type(const Tensor& t) {
  return torch::stable::contiguous(is_half_type(t.scalar_type()) ? torch::stable::to(t, ScalarType::Float) : t);
}

inline Tensor to_result_type(const Tensor& t, ScalarType type) {
  return t.scalar_type() == type ? t : torch::stable::to(t, type);
}

template <class S>
const S* data(const Tensor& t) {
  return static_cast<const S*>(t.const_data_ptr());
}
template <class S>
S* mutable_data(const Tensor& t) {
  return static_cast<S*>(t.mutable_data_ptr());
}

// Calls f(S{}) with the compute type of t.
template <class F>
void with_compute_type(const Tensor& t, F f) {
  if (t.scalar_type() == ScalarType::Double) f(double{});
  else f(float{});
}

// About 20 us of work: below that a second thread costs more than it brings.
inline constexpr int64_t kElementGrain = 2048;

// out = range(in, out, n) over ranges of one input.
template <class F>
Tensor map_elements(const Tensor& input, F range) {
  const Tensor x = to_compute_type(input);
  const Tensor out = torch::stable::empty_like(x);
  with_compute_type(x, [&](auto type) {
    using S = decltype(type);
    const S* in = data<S>(x);
    S* result = mutable_data<S>(out);
    torch::stable::parallel_for(0, x.numel(), kElementGrain, [&](int64_t begin, int64_t end) {
      range(row_kernels<S>(), in + begin, result + begin, end - begin);
    });
  });
  return to_result_type(out, input.scalar_type());
}

// The same with two inputs of one shape and dtype.
template <class F>
Tensor map_elements(const Tensor& input1, const Tensor& input2, F range) {
  const Tensor x = to_compute_type(input1), y = to_compute_type(input2);
  const Tensor out = torch::stable::empty_like(y);
  with_compute_type(x, [&](auto type) {
    using S = decltype(type);
    const S *in1 = data<S>(x), *in2 = data<S>(y);
    S* result = mutable_data<S>(out);
    torch::stable::parallel_for(0, x.numel(), kElementGrain, [&](int64_t begin, int64_t end) {
      range(row_kernels<S>(), in1 + begin, in2 + begin, result + begin, end - begin);
    });
  });
  return to_result_type(out, input1.scalar_type());
}

}  // namespace svmf
