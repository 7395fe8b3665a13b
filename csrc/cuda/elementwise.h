// SPDX-License-Identifier: MIT
// The shape of every elementwise op on CUDA: contiguous input, one output, half types through
// float. The caller names the launcher.
#pragma once

#include "cuda/device.h"

namespace svmf::cuda {

template <class F>
Tensor map_elements(const char* op, const Tensor& input, F launch) {
  const Tensor x = to_compute_type(input), out = empty_like_contiguous(x);
  launch_on_device(op, x, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch(data<S>(x), mutable_data<S>(out), x.numel(), stream);
  });
  return to_result_type(out, input.scalar_type());
}

template <class F>
Tensor map_elements(const char* op, const Tensor& input1, const Tensor& input2, F launch) {
  const Tensor x = to_compute_type(input1), y = to_compute_type(input2),
               out = empty_like_contiguous(x);
  launch_on_device(op, x, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch(data<S>(x), data<S>(y), mutable_data<S>(out), x.numel(), stream);
  });
  return to_result_type(out, input1.scalar_type());
}

}  // namespace svmf::cuda
