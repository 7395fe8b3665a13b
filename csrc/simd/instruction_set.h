// SPDX-License-Identifier: MIT
// The instruction set that this file is compiled for, by what the compiler's flags allow it to use.
#pragma once

#if defined(__AVX512F__)
#include "simd/avx512.h"
#elif defined(__AVX2__)
#include "simd/avx2.h"
#elif defined(__x86_64__)
#include "simd/sse2.h"
#elif defined(__aarch64__)
#include "simd/neon.h"
#else
#include "simd/portable.h"
namespace svmf {
inline namespace SVMF_ISA {
inline constexpr int kRegisterBytes = 16;
}  // namespace SVMF_ISA
}  // namespace svmf
#endif
