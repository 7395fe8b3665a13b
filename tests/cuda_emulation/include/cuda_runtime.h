// SPDX-License-Identifier: MIT
// Stands in for the CUDA toolkit's header of the same name, so that g++ compiles csrc/cuda/kernels
// as ordinary C++ and the tests run them thread by thread. Every CUDA thread is a fiber; blocks run
// one after another; __syncthreads and the
// *_sync functions are meeting points at which the runtime checks what the hardware only assumes
// (see runtime.cpp). Only what our kernels use is here: a kernel that needs more does not compile,
// and the shim grows with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace emulation {

// Implemented in runtime.cpp, which is compiled without sanitizers: its own bookkeeping must not
// look like the kernel's.
unsigned thread_index();
unsigned block_index();
unsigned block_size();
unsigned grid_size();
void* shared_memory();

enum class Meeting { kNone, kSyncThreads, kSyncWarp, kShuffle, kBallot };

// Waits until everybody in `mask` has arrived at the same source line; returns the value that lane
// `source` brought (kShuffle), or the ballot of the truth of all values (kBallot).
uint64_t meet(Meeting kind, unsigned mask, uint64_t value, int source, const char* file, int line);
int shuffle_source(int offset_lane, int width, const char* file, int line);
unsigned lane();

struct Launch {
  dim3 grid, block;
  size_t shared;
  const void* kernel;
  std::function<std::string()> parameters;  // their bytes, in hexadecimal
};
int resident_blocks();
int launch(const Launch& launch, const std::function<void()>& kernel);
int attribute(int which);

template <class T>
uint64_t to_word(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  uint64_t word = 0;
  __builtin_memcpy(&word, &value, sizeof value);
  return word;
}
template <class T>
T from_word(uint64_t word) {
  T value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

// threadIdx.x and its like: read where they are used.
struct Register {
  unsigned (*read)();
  operator unsigned() const { return read(); }
};
struct Registers {
  Register x;
};

}  // namespace emulation

inline constexpr emulation::Registers threadIdx{{emulation::thread_index}},
    blockIdx{{emulation::block_index}};
inline constexpr emulation::Registers blockDim{{emulation::block_size}},
    gridDim{{emulation::grid_size}};

// The call site is part of a meeting: that two branches of an `if` each shuffle is a mistake, not a
// meeting.
#define SVMF_CALL_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, SVMF_CALL_SITE) {
  using namespace emulation;
  const int base = static_cast<int>(lane()) & ~(width - 1);
  const int from = shuffle_source(base + (source & (width - 1)), width, file, line);
  return from_word<T>(meet(Meeting::kShuffle, mask, to_word(value), from, file, line));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SVMF_CALL_SITE) {
  using namespace emulation;
  const int own = static_cast<int>(lane()), other = own ^ lane_mask;
  // As on the device: a source in a later segment gives the thread's own value, an earlier one is
  // readable.
  const int from =
      shuffle_source(other >= (own & ~(width - 1)) + width ? own : other, width, file, line);
  return from_word<T>(meet(Meeting::kShuffle, mask, to_word(value), from, file, line));
}
inline unsigned __ballot_sync(unsigned mask, bool predicate, SVMF_CALL_SITE) {
  return static_cast<unsigned>(
      emulation::meet(emulation::Meeting::kBallot, mask, predicate, 0, file, line));
}
inline void __syncwarp(unsigned mask = 0xffffffffu, SVMF_CALL_SITE) {
  emulation::meet(emulation::Meeting::kSyncWarp, mask, 0, 0, file, line);
}
inline void __syncthreads_at(const char* file, int line) {
  emulation::meet(emulation::Meeting::kSyncThreads, 0, 0, 0, file, line);
}
#define __syncthreads() __syncthreads_at(__builtin_FILE(), __builtin_LINE())

inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }

using cudaStream_t = struct CUstream_st*;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidPtx = 218,
  cudaErrorUnsupportedPtxVersion = 222,
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
};

inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess             ? "no error"
         : error == cudaErrorInvalidValue ? "invalid argument"
                                          : "invalid configuration argument";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = emulation::attribute(attribute);
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, size_t) {
  *blocks = emulation::resident_blocks();
  return cudaSuccess;
}

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

template <class T>
std::string hexadecimal(const T& value) {
  constexpr char kDigits[] = "0123456789abcdef";
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(&value);
  std::string text(" ");
  for (size_t i = 0; i < sizeof(T); ++i) {
    text += kDigits[bytes[i] / 16];
    text += kDigits[bytes[i] % 16];
  }
  return text;
}

// Arguments are copied for every thread, as the device copies kernel parameters.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const emulation::Launch launch{config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                 reinterpret_cast<const void*>(kernel), [&] {
                                   return (hexadecimal(static_cast<Parameters>(arguments)) + ...);
                                 }};
  return static_cast<cudaError_t>(
      emulation::launch(launch, [&] { kernel(static_cast<Parameters>(arguments)...); }));
}
