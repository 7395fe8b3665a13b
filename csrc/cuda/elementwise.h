// SPDX-License-Identifier: MIT
// The shape of every elementwise op on CUDA: contiguous inputs of one type, one output. The caller
// names the launcher.
#pragma once

#include "cuda/device.h"

namespace svmf::cuda {

template <class F>
Tensor map_elements(const char* op, const Tensor& input, F launch) {
  const Tensor x = to_contiguous(input), out = empty_like_contiguous(x);
  launch_stored(op, x, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch(data<T>(x), mutable_data<T>(out), x.numel(), stream);
  });
  return out;
}

template <class F>
Tensor map_elements(const char* op, const Tensor& input1, const Tensor& input2, F launch) {
  const Tensor x = to_contiguous(input1), y = to_contiguous(input2), out = empty_like_contiguous(x);
  launch_stored(op, x, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch(data<T>(x), data<T>(y), mutable_data<T>(out), x.numel(), stream);
  });
  return out;
}

}  // namespace svmf::cuda
