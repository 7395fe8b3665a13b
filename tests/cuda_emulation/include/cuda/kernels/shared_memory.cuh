// SPDX-License-Identifier: MIT
// Stands in for csrc/cuda/kernels/shared_memory.cuh: g++ cannot parse `extern __shared__`.
#pragma once

#include <cuda_runtime.h>

namespace svmf {

template <class T>
T* shared_memory() {
  return static_cast<T*>(emulation::shared_memory());
}

}  // namespace svmf
