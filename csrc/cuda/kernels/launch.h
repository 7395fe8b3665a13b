// SPDX-License-Identifier: MIT
// Starts a kernel with as many blocks as it has work for, but no more than a few rounds of what the
// device holds at once: the kernels walk through the rest in strides, and stage their tables that
// many times fewer.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace svmf {

// Rounds of resident blocks in a full grid: more than one, so that blocks that end early make room.
inline constexpr int64_t kRounds = 2;

// Second argument of every __launch_bounds__. Said out loud, because without it ptxas aims at more
// blocks per multiprocessor and spills registers to get there.
inline constexpr int kMinBlocks = 1;

inline cudaError_t count_processors(int* processors) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess
             ? error
             : cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device);
}

// blocks >= 1 is what the work asks for.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), int64_t blocks, int block, size_t shared,
                          cudaStream_t stream, const Arguments&... arguments) {
  int processors = 0, resident = 0;
  cudaError_t error = count_processors(&processors);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, shared);
  if (error != cudaSuccess) return error;
  const int64_t full = kRounds * processors * (resident > 0 ? resident : 1);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks < full ? blocks : full));
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace svmf
