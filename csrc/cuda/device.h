// SPDX-License-Identifier: MIT
// What an op wrapper needs of the device: be on it, its current stream, and errors that name the
// op.
#pragma once

#include <cuda_runtime.h>

#include "common/half_types.h"
#include "common/tensors.h"

namespace svmf::cuda {

// While it lives, the device of `like` is the current one; the stream is torch's current stream
// there.
class OnDevice {
 public:
  explicit OnDevice(const Tensor& like);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  cudaStream_t stream() const { return stream_; }

 private:
  void* guard_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Reports a launch that failed on the current device.
[[noreturn]] void fail_launch(const char* op, cudaError_t error);

// launch(T{}, stream) on the device of `like`, T what it is stored as: kernels convert half types in
// loads and stores. An error is reported with the op's name.
template <class F>
void launch_stored(const char* op, const Tensor& like, F launch) {
  const OnDevice device(like);
  const auto run = [&](auto type) {
    const cudaError_t error = launch(type, device.stream());
    if (error != cudaSuccess) fail_launch(op, error);
  };
  switch (like.scalar_type()) {
    case ScalarType::Double:
      return run(double{});
    case ScalarType::Half:
      return run(Float16{});
    case ScalarType::BFloat16:
      return run(Bfloat16{});
    default:
      return run(float{});
  }
}

}  // namespace svmf::cuda
