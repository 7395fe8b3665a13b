// SPDX-License-Identifier: MIT
// How a function is marked that both the host's compiler (once per CPU instruction set) and nvcc
// compile.
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
