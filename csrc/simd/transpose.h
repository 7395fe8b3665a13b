// SPDX-License-Identifier: MIT
// N x N transposes of registers: rows of memory to lanes and back.
#pragma once

#include <utility>

#include "simd/vec.h"

namespace svmf {
inline namespace SVMF_ISA {

// Through memory: the general case, kept out of line because it is long.
template <class E, int N>
__attribute__((noinline)) inline void transpose_in_memory(Vec<E, N>* v) {
  alignas(64) E cells[N][N];
  for (int i = 0; i < N; ++i) v[i].store(cells[i]);
  alignas(64) E turned[N][N];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) turned[i][j] = cells[j][i];
  }
  for (int i = 0; i < N; ++i) v[i] = Vec<E, N>::load(turned[i]);
}
template <class E, int N>
SVMF_INLINE void transpose(Vec<E, N> (&v)[N]) {
  transpose_in_memory<E, N>(v);
}

#if defined(__AVX2__)
template <>
SVMF_INLINE void transpose<float, 8>(Vec<float, 8> (&v)[8]) {
  __m256 t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps((__m256)v[i].v, (__m256)v[i + 1].v);
    t[i + 1] = _mm256_unpackhi_ps((__m256)v[i].v, (__m256)v[i + 1].v);
  }
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = (Vec<float, 8>::Native)_mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    v[i + 4] = (Vec<float, 8>::Native)_mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}

template <>
SVMF_INLINE void transpose<double, 4>(Vec<double, 4> (&v)[4]) {
  const __m256d t0 = _mm256_unpacklo_pd((__m256d)v[0].v, (__m256d)v[1].v);
  const __m256d t1 = _mm256_unpackhi_pd((__m256d)v[0].v, (__m256d)v[1].v);
  const __m256d t2 = _mm256_unpacklo_pd((__m256d)v[2].v, (__m256d)v[3].v);
  const __m256d t3 = _mm256_unpackhi_pd((__m256d)v[2].v, (__m256d)v[3].v);
  v[0] = (Vec<double, 4>::Native)_mm256_permute2f128_pd(t0, t2, 0x20);
  v[1] = (Vec<double, 4>::Native)_mm256_permute2f128_pd(t1, t3, 0x20);
  v[2] = (Vec<double, 4>::Native)_mm256_permute2f128_pd(t0, t2, 0x31);
  v[3] = (Vec<double, 4>::Native)_mm256_permute2f128_pd(t1, t3, 0x31);
}
#endif

// Even and odd elements of two registers in a row, and back: the transposes of two columns.
template <class E, int N, int... I>
SVMF_INLINE void split_pairs(Vec<E, N> a, Vec<E, N> b, Vec<E, N>* even, Vec<E, N>* odd,
                             std::integer_sequence<int, I...>) {
  *even = __builtin_shufflevector(a.v, b.v, (2 * I)...);
  *odd = __builtin_shufflevector(a.v, b.v, (2 * I + 1)...);
}
template <class E, int N, int... I>
SVMF_INLINE void join_pairs(Vec<E, N> even, Vec<E, N> odd, Vec<E, N>* a, Vec<E, N>* b,
                            std::integer_sequence<int, I...>) {
  *a = __builtin_shufflevector(even.v, odd.v, (I / 2 + (I % 2) * N)...);
  *b = __builtin_shufflevector(even.v, odd.v, (N / 2 + I / 2 + (I % 2) * N)...);
}

}  // namespace SVMF_ISA
}  // namespace svmf
