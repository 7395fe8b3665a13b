// SPDX-License-Identifier: MIT
// out[i] = Function::apply(constants, in[i]...): one thread per element, in strides of the grid.
// The constants (tables of one dimension or order) are staged in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/half_types.h"
#include "cuda/kernels/launch.h"
#include "cuda/kernels/staged.cuh"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kElementBlock = 128;

template <class Function, class T, class... Inputs>
__global__ void __launch_bounds__(kElementBlock, kMinBlocks)
    elements_kernel(const __grid_constant__ Parameter<typename Function::Constants> parameter,
                    T* out, int64_t n, const Inputs*... in) {
  using S = ComputeType<T>;
  if constexpr (!std::is_empty_v<typename Function::Constants>) stage(parameter);
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = Function::apply(staged<typename Function::Constants>(), static_cast<S>(in[i])...);
  }
}

template <class Function, class T, class... Inputs>
cudaError_t launch_elements(const typename Function::Constants& constants, T* out, int64_t n,
                            cudaStream_t stream, const Inputs*... in) {
  using Constants = typename Function::Constants;
  if (n == 0) return cudaSuccess;
  constexpr size_t shared = std::is_empty_v<Constants> ? 0 : sizeof(Parameter<Constants>);
  return launch_kernel(elements_kernel<Function, T, Inputs...>,
                       (n + kElementBlock - 1) / kElementBlock, kElementBlock, shared, stream,
                       Parameter<Constants>{constants}, out, n, in...);
}

}  // namespace SVMF_ISA
}  // namespace svmf
