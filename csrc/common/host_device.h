// SPDX-License-Identifier: MIT
// Who compiles csrc/math: g++ or clang for one CPU instruction set, or nvcc for the device. The
// headers above ask these names and not the compiler; csrc/simd asks for its instruction set.
//
// SVMF_ISA names the inline namespace of everything that is compiled once per instruction set.
// Without it the linker could keep the AVX-512 copy of an inline function and call it on a machine
// that has no AVX-512.
#pragma once

#ifndef SVMF_ISA
#define SVMF_ISA isa_baseline
#endif

#if defined(__CUDACC__)
#define SVMF_HOST_DEVICE __host__ __device__
#define SVMF_INLINE __host__ __device__ __forceinline__
#else
#define SVMF_HOST_DEVICE
#define SVMF_INLINE inline __attribute__((always_inline))
#endif

// Before a loop of few rounds that is to be unrolled as a whole.
#if defined(__CUDACC__) || defined(__clang__)
#define SVMF_UNROLL _Pragma("unroll")
#else
#define SVMF_UNROLL _Pragma("GCC unroll 16")
#endif

// Whether this is the pass that makes machine code of the device.
#if defined(__CUDA_ARCH__)
#define SVMF_DEVICE_CODE 1
#else
#define SVMF_DEVICE_CODE 0
#endif

// Whether a fused multiply-add is an instruction, and not a call of the library.
#if defined(__FMA__) || SVMF_DEVICE_CODE || defined(__aarch64__)
#define SVMF_HAS_FMA 1
#else
#define SVMF_HAS_FMA 0
#endif
