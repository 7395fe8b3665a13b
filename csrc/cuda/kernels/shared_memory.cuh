// SPDX-License-Identifier: MIT
// The block's dynamic shared memory. Alone in its file because it is the one construct that only
// nvcc understands: the emulation of tests/cuda_emulation puts another file of this name in its
// place.
#pragma once

#include <cuda_runtime.h>

namespace svmf {

template <class T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(32) unsigned char svmf_shared_bytes[];
  return reinterpret_cast<T*>(svmf_shared_bytes);
}

}  // namespace svmf
