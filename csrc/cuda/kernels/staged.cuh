// SPDX-License-Identifier: MIT
// Tables come as kernel parameters (by value, so that a captured graph keeps them) and are copied
// to shared memory. The constant bank that holds parameters serves one word at a time where lanes
// ask for different ones, both in the copy and in look-ups; so the copy reads the parameter through
// a generic pointer, four words per lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/host_device.h"
#include "cuda/kernels/shared_memory.cuh"

namespace svmf {
inline namespace SVMF_ISA {

// The size of T in shared memory; what follows it is aligned too.
inline constexpr size_t kSharedAlignment = 32;
constexpr size_t padded_size(size_t bytes) {
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

// A table as a kernel's parameter: whole pieces of 16 bytes.
template <class T>
struct alignas(alignof(T) > 16 ? alignof(T) : 16) Parameter {
  T value;
};

// Copies the block's parameter to the front of its shared memory. A barrier: every thread of the
// block must call it.
template <class T>
__device__ __forceinline__ void stage(const Parameter<T>& parameter) {
  struct Piece {
    uint32_t word[4];
  } __attribute__((may_alias, aligned(16)));
  static_assert(sizeof(parameter) % sizeof(Piece) == 0 && alignof(T) <= kSharedAlignment,
                "tables are copied piece by piece");
  const Piece* from = reinterpret_cast<const Piece*>(&parameter);
#if SVMF_DEVICE_CODE
  asm("" : "+l"(from));  // nvcc would see through the pointer and read the constant bank
#endif
  Piece* const to = shared_memory<Piece>();
  for (unsigned i = threadIdx.x; i < sizeof(parameter) / sizeof(Piece); i += blockDim.x)
    to[i] = from[i];
  __syncthreads();
}

// What was staged.
template <class T>
__device__ __forceinline__ const T& staged() {
  return *shared_memory<const T>();
}

}  // namespace SVMF_ISA
}  // namespace svmf
