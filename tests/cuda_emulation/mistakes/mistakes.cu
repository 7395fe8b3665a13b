// SPDX-License-Identifier: MIT
// Small kernels with one mistake each, and one without: they show that the emulation notices. The
// program runs the one that its argument names and exits with 5 if the result is wrong.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "cuda/kernels/shared_memory.cuh"
#include "runtime.h"

namespace {

constexpr int kBlock = 64, kBlocks = 2, kElements = 100;
constexpr unsigned kWholeWarp = 0xffffffffu;

__device__ int element() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// The sum of the block's elements, in every element: a shuffle tree, shared memory, a barrier.
template <bool kBarrier, int kWidth>
__global__ void block_sum(const float* in, float* out) {
  float* shared = svmf::shared_memory<float>();
  float x = element() < kElements ? in[element()] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(kWholeWarp, x, offset, kWidth);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % 32 == 0) shared[thread / 32] = x;
  if (kBarrier) __syncthreads();
  if (element() < kElements) out[element()] = shared[0] + shared[1];
}

// Its neighbours have their barriers.
__global__ void missing_barrier_between_two(const float* in, float* out) {
  float* shared = svmf::shared_memory<float>();
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = in[0];
  const float x = shared[1];
  __syncthreads();
  if (element() < kElements) out[element()] = x;
}

__global__ void store_past_the_end(const float* in, float* out) {
  if (element() <= kElements) out[element()] = in[std::min(element(), kElements - 1)];
}

__global__ void read_past_shared_memory(const float*, float* out) {
  const float* shared = svmf::shared_memory<float>();
  if (element() == 0) out[0] = shared[2];
}

__global__ void return_before_the_barrier(const float* in, float* out) {
  if (element() >= kElements) return;
  __syncthreads();
  out[element()] = in[element()];
}

__global__ void shuffle_in_a_branch(const float* in, float* out) {
  float x = element() < kElements ? in[element()] : 0.0f;
  if (threadIdx.x % 2 == 0) x = __shfl_xor_sync(kWholeWarp, x, 1);
  if (element() < kElements) out[element()] = x;
}

__global__ void two_barriers_for_one(const float* in, float* out) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  if (element() < kElements) out[element()] = in[element()];
}

__global__ void lane_outside_its_mask(const float* in, float* out) {
  const float x = __shfl_sync(0x0000ffffu, in[0], 0);
  if (element() == 0) out[0] = x;
}

__global__ void source_outside_the_mask(const float* in, float* out) {
  if (threadIdx.x % 32 < 16) out[0] = __shfl_sync(0x0000ffffu, in[0], 20);
}

__global__ void uninitialised_shared_memory(const float* in, float* out) {
  const float* shared = svmf::shared_memory<float>();
  if (element() < kElements) out[element()] = in[element()] + shared[0];
}

__global__ void sum_without_atomics(const float* in, float* out) {
  if (element() < kElements) out[0] += in[element()];
}

}  // namespace

int main(int, char** arguments) {
  using Kernel = void (*)(const float*, float*);
  const std::map<std::string, Kernel> kernels{
      {"none", block_sum<true, 32>},
      {"missing_barrier", block_sum<false, 32>},
      {"missing_barrier_between_two", missing_barrier_between_two},
      {"wrong_shuffle_width", block_sum<true, 8>},
      {"impossible_shuffle_width", block_sum<true, 24>},
      {"store_past_the_end", store_past_the_end},
      {"read_past_shared_memory", read_past_shared_memory},
      {"return_before_the_barrier", return_before_the_barrier},
      {"shuffle_in_a_branch", shuffle_in_a_branch},
      {"two_barriers_for_one", two_barriers_for_one},
      {"lane_outside_its_mask", lane_outside_its_mask},
      {"source_outside_the_mask", source_outside_the_mask},
      {"uninitialised_shared_memory", uninitialised_shared_memory},
      {"sum_without_atomics", sum_without_atomics},
  };
  const std::string name = arguments[1];
  const auto entry = kernels.find(name == "block_too_large" ? "none" : name);
  if (entry == kernels.end()) return 2;
  emulation::settings().order = static_cast<emulation::Order>(arguments[2][0] - '0');
  std::vector<float> in(kElements, 1.0f), out(kElements, 0.0f);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(name == "block_too_large" ? 2048 : kBlock);
  config.dynamicSmemBytes = 2 * sizeof(float);
  const cudaError_t error = cudaLaunchKernelEx(&config, entry->second, in.data(), out.data());
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return 4;
  }
  for (int i = 0; i < kElements; ++i) {
    if (out[i] != (i < kBlock ? kBlock : kElements - kBlock)) return 5;
  }
  return 0;
}
