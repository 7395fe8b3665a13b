// SPDX-License-Identifier: MIT
// Tables come as kernel parameters (by value, so that a captured graph keeps them) and are copied
// to shared memory: lanes that look up different pieces would be served one after another by the
// parameters' constant bank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/shared_memory.cuh"

namespace svmf {
inline namespace SVMF_ISA {

// The size of T in shared memory; what follows it is aligned too.
inline constexpr size_t kSharedAlignment = 32;
constexpr size_t padded_size(size_t bytes) {
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

// Copies the block's parameter to the front of its shared memory. A barrier: every thread of the
// block must call it.
template <class T>
__device__ __forceinline__ void stage(const T& parameter) {
  using Word = uint32_t __attribute__((may_alias));
  static_assert(
      (sizeof(T) % sizeof(Word) == 0 || std::is_empty_v<T>) && alignof(T) <= kSharedAlignment,
      "tables are copied word by word");
  Word* const to = shared_memory<Word>();
  const Word* const from = reinterpret_cast<const Word*>(&parameter);
  for (unsigned i = threadIdx.x; i < sizeof(T) / sizeof(Word); i += blockDim.x) to[i] = from[i];
  __syncthreads();
}

// What was staged.
template <class T>
__device__ __forceinline__ const T& staged() {
  return *shared_memory<const T>();
}

}  // namespace SVMF_ISA
}  // namespace svmf
