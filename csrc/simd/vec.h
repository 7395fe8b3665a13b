// SPDX-License-Identifier: MIT
// Vec<E, N>: N values side by side, the lane type of the CPU row kernels. GCC's and Clang's vector
// extension does the arithmetic; intrinsics stand only where the extension has no word (fma, square
// root, permutes, 32x32->64 products). The register width follows the instruction set that the file
// is compiled for.
#pragma once

#include <type_traits>

#include "math/lanes.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace svmf {
inline namespace SVMF_ISA {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

template <class E, int N>
struct Vec {
  typedef E Native __attribute__((vector_size(sizeof(E) * N)));
  // Integers are added as unsigned ones: the bits of a nan may carry over the sign.
  using Unsigned = std::conditional_t<sizeof(E) == 4, uint32_t, uint64_t>;
  typedef std::conditional_t<std::is_integral_v<E>, Unsigned, E> Sum
      __attribute__((vector_size(sizeof(E) * N)));
  Native v;

  Vec() = default;
  SVMF_INLINE Vec(Native native) : v(native) {}
  // x - 0 keeps the sign of a negative zero.
  SVMF_INLINE Vec(double x) : v(static_cast<E>(x) - Native{}) {}
  SVMF_INLINE Vec(float x) : v(static_cast<E>(x) - Native{}) {}
  SVMF_INLINE Vec(int x) : v(static_cast<E>(x) - Native{}) {}
  SVMF_INLINE Vec(long x) : v(static_cast<E>(x) - Native{}) {}
  SVMF_INLINE Vec(unsigned x) : v(static_cast<E>(x) - Native{}) {}
  SVMF_INLINE Vec(unsigned long x) : v(static_cast<E>(x) - Native{}) {}

  SVMF_INLINE E operator[](int i) const { return v[i]; }

  SVMF_INLINE static Vec load(const E* p) {
    Vec r;
    memcpy(&r.v, p, sizeof(Native));
    return r;
  }
  SVMF_INLINE void store(E* p) const { memcpy(p, &v, sizeof(Native)); }
  // The first n lanes from memory, the others `fill`.
  SVMF_INLINE static Vec load_first(const E* p, int64_t n, E fill) {
    alignas(sizeof(Native)) E buffer[N];
    for (int i = 0; i < N; ++i) buffer[i] = i < n ? p[i] : fill;
    return load(buffer);
  }
  // The first n lanes from memory, the others zero.
  SVMF_INLINE static Vec load_or_zero(const E* p, int64_t n) {
#if defined(__AVX2__)
    if constexpr (sizeof(E) == 4 && N == 8) {
      const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes);
      return (Native)_mm256_maskload_ps((const float*)p, mask);
    }
    if constexpr (sizeof(E) == 8 && N == 4) {
      const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
      const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lanes);
      return (Native)_mm256_maskload_pd((const double*)p, mask);
    }
#endif
    return load_first(p, n, E(0));
  }
  SVMF_INLINE void store_first(E* p, int64_t n) const {
    for (int i = 0; i < n && i < N; ++i) p[i] = v[i];
  }

  SVMF_INLINE friend Vec operator+(Vec a, Vec b) { return (Native)((Sum)a.v + (Sum)b.v); }
  SVMF_INLINE friend Vec operator-(Vec a, Vec b) { return (Native)((Sum)a.v - (Sum)b.v); }
  SVMF_INLINE friend Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  SVMF_INLINE friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  SVMF_INLINE friend Vec operator-(Vec a) { return -a.v; }
  SVMF_INLINE friend Vec operator&(Vec a, Vec b) { return a.v & b.v; }
  SVMF_INLINE friend Vec operator|(Vec a, Vec b) { return a.v | b.v; }
  SVMF_INLINE friend Vec operator^(Vec a, Vec b) { return a.v ^ b.v; }
  SVMF_INLINE friend auto operator<(Vec a, Vec b) { return mask_of(a.v < b.v); }
  SVMF_INLINE friend auto operator<=(Vec a, Vec b) { return mask_of(a.v <= b.v); }
  SVMF_INLINE friend auto operator>(Vec a, Vec b) { return mask_of(a.v > b.v); }
  SVMF_INLINE friend auto operator>=(Vec a, Vec b) { return mask_of(a.v >= b.v); }
  SVMF_INLINE friend auto operator==(Vec a, Vec b) { return mask_of(a.v == b.v); }
  SVMF_INLINE friend auto operator!=(Vec a, Vec b) { return mask_of(a.v != b.v); }
  SVMF_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  SVMF_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  SVMF_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }

 private:
  template <class NativeMask>
  SVMF_INLINE static auto mask_of(NativeMask mask);
};

// All bits of a lane set or none, in an integer of the lane's size.
template <class I, int N>
struct VecMask {
  typedef I Native __attribute__((vector_size(sizeof(I) * N)));
  Native v;

  SVMF_INLINE friend VecMask operator&(VecMask a, VecMask b) { return {a.v & b.v}; }
  SVMF_INLINE friend VecMask operator|(VecMask a, VecMask b) { return {a.v | b.v}; }
  SVMF_INLINE friend VecMask operator&&(VecMask a, VecMask b) { return {a.v & b.v}; }
  SVMF_INLINE friend VecMask operator||(VecMask a, VecMask b) { return {a.v | b.v}; }
  SVMF_INLINE bool operator[](int i) const { return v[i] != 0; }
};

template <class E, int N>
template <class NativeMask>
SVMF_INLINE auto Vec<E, N>::mask_of(NativeMask mask) {
  if constexpr (sizeof(E) == 4) {
    typedef int32_t Native __attribute__((vector_size(4 * N)));
    return VecMask<int32_t, N>{(Native)mask};
  } else {
    typedef int64_t Native __attribute__((vector_size(8 * N)));
    return VecMask<int64_t, N>{(Native)mask};
  }
}

template <int N>
struct Lanes<Vec<float, N>> {
  using Scalar = float;
  using Int = Vec<int32_t, N>;
  using Mask = VecMask<int32_t, N>;
  static constexpr int kWidth = N;
};
template <int N>
struct Lanes<Vec<double, N>> {
  using Scalar = double;
  using Int = Vec<int64_t, N>;
  using Mask = VecMask<int64_t, N>;
  static constexpr int kWidth = N;
};

// The lane type that fills one register of this instruction set.
template <class Scalar>
using RowVec = Vec<Scalar, kRegisterBytes / static_cast<int>(sizeof(Scalar))>;

template <class E, class I, int N>
SVMF_INLINE Vec<E, N> select(VecMask<I, N> mask, Vec<E, N> yes, Vec<E, N> no) {
  return Vec<E, N>(mask.v ? yes.v : no.v);
}

// The sign bits of the lanes, lane 0 in bit 0.
template <class I, int N>
SVMF_INLINE unsigned bitmask(VecMask<I, N> mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(I) * N == 64) {
    if constexpr (sizeof(I) == 4)
      return _mm512_movepi32_mask((__m512i)mask.v);
    else
      return _mm512_movepi64_mask((__m512i)mask.v);
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(I) * N == 32) {
    if constexpr (sizeof(I) == 4)
      return _mm256_movemask_ps((__m256)mask.v);
    else
      return _mm256_movemask_pd((__m256d)mask.v);
  }
#endif
  unsigned bits = 0;
  for (int i = 0; i < N; ++i) bits |= static_cast<unsigned>(mask.v[i] < 0) << i;
  return bits;
}
template <class I, int N>
SVMF_INLINE bool any(VecMask<I, N> mask) {
  return bitmask(mask) != 0;
}
template <class I, int N>
SVMF_INLINE bool all(VecMask<I, N> mask) {
  return bitmask(mask) == (N == 32 ? ~0u : (1u << N) - 1u);
}
template <class I, int N>
SVMF_INLINE VecMask<I, N> logical_not(VecMask<I, N> mask) {
  return {~mask.v};
}

template <class E, int N>
SVMF_INLINE Vec<E, N> mul_add(Vec<E, N> a, Vec<E, N> b, Vec<E, N> c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(E) * N == 64) {
    if constexpr (sizeof(E) == 4)
      return (typename Vec<E, N>::Native)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v);
    else
      return (typename Vec<E, N>::Native)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v);
  }
#endif
#if defined(__FMA__)
  if constexpr (sizeof(E) * N == 32) {
    if constexpr (sizeof(E) == 4)
      return (typename Vec<E, N>::Native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v);
    else
      return (typename Vec<E, N>::Native)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v);
  }
#endif
  return a * b + c;
}

template <class E, int N>
SVMF_INLINE Vec<E, N> square_root(Vec<E, N> a) {
#if defined(__AVX512F__)
  if constexpr (sizeof(E) * N == 64) {
    if constexpr (sizeof(E) == 4)
      return (typename Vec<E, N>::Native)_mm512_sqrt_ps((__m512)a.v);
    else
      return (typename Vec<E, N>::Native)_mm512_sqrt_pd((__m512d)a.v);
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(E) * N == 32) {
    if constexpr (sizeof(E) == 4)
      return (typename Vec<E, N>::Native)_mm256_sqrt_ps((__m256)a.v);
    else
      return (typename Vec<E, N>::Native)_mm256_sqrt_pd((__m256d)a.v);
  }
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(E) * N == 16) {
    if constexpr (sizeof(E) == 4)
      return (typename Vec<E, N>::Native)_mm_sqrt_ps((__m128)a.v);
    else
      return (typename Vec<E, N>::Native)_mm_sqrt_pd((__m128d)a.v);
  }
#endif
  Vec<E, N> r;
  for (int i = 0; i < N; ++i) r.v[i] = square_root(static_cast<E>(a.v[i]));
  return r;
}

// The bits of a floating vector as integers, and back.
template <int N>
SVMF_INLINE Vec<int32_t, N> to_bits(Vec<float, N> a) {
  return (typename Vec<int32_t, N>::Native)a.v;
}
template <int N>
SVMF_INLINE Vec<int64_t, N> to_bits(Vec<double, N> a) {
  return (typename Vec<int64_t, N>::Native)a.v;
}
template <int N>
SVMF_INLINE Vec<float, N> from_bits(Vec<int32_t, N> a) {
  return (typename Vec<float, N>::Native)a.v;
}
template <int N>
SVMF_INLINE Vec<double, N> from_bits(Vec<int64_t, N> a) {
  return (typename Vec<double, N>::Native)a.v;
}
template <class E, int N>
SVMF_INLINE Vec<E, N> absolute(Vec<E, N> a) {
  using Bits = typename Format<E>::Bits;
  return from_bits(to_bits(a) & Vec<Bits, N>(static_cast<Bits>(~(Bits(1) << (8 * sizeof(E) - 1)))));
}
template <class E, int N>
SVMF_INLINE Vec<E, N> shift_left(Vec<E, N> a, int n) {
  using U = std::conditional_t<sizeof(E) == 4, uint32_t, uint64_t>;
  return (typename Vec<E, N>::Native)((typename Vec<U, N>::Native)a.v << n);
}
template <class E, int N>
SVMF_INLINE Vec<E, N> shift_right(Vec<E, N> a, int n) {
  using U = std::conditional_t<sizeof(E) == 4, uint32_t, uint64_t>;
  return (typename Vec<E, N>::Native)((typename Vec<U, N>::Native)a.v >> n);
}

// The sum of the lanes, by halves.
template <class E, int N>
SVMF_INLINE E sum_lanes(Vec<E, N> a) {
#if defined(__AVX2__)
  if constexpr (sizeof(E) * N == 32 && sizeof(E) == 4) {
    const __m256 v = (__m256)a.v;
    const __m128 quad = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 pair = _mm_add_ps(quad, _mm_movehl_ps(quad, quad));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }
  if constexpr (sizeof(E) * N == 32 && sizeof(E) == 8) {
    const __m256d v = (__m256d)a.v;
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
  }
#endif
  E part[N];
  a.store(part);
  for (int half = N / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

template <int N>
struct RowIndex<Vec<float, N>> {
  Vec<int32_t, N> index;
  SVMF_INLINE explicit RowIndex(Vec<int32_t, N> i) : index(i) {}
  SVMF_INLINE Vec<float, N> pick(const float* row) const {
#if defined(__AVX512F__)
    if constexpr (N == 16) {
      const __m512 twice = _mm512_castps256_ps512(_mm256_loadu_ps(row));
      return (typename Vec<float, N>::Native)_mm512_permutexvar_ps((__m512i)index.v, twice);
    }
#endif
#if defined(__AVX2__)
    if constexpr (N == 8) {
      return (typename Vec<float, N>::Native)_mm256_permutevar8x32_ps(_mm256_loadu_ps(row),
                                                                      (__m256i)index.v);
    }
#endif
    Vec<float, N> r;
    for (int i = 0; i < N; ++i) r.v[i] = row[index.v[i]];
    return r;
  }
};

template <int N>
struct RowIndex<Vec<double, N>> {
  Vec<int64_t, N> index;  // with AVX2: the two 32-bit halves' indices, ready for the permute
  SVMF_INLINE explicit RowIndex(Vec<int64_t, N> i) : index(i) {
#if defined(__AVX2__)
    if constexpr (N == 4) {
      const Vec<int64_t, N> twice = i + i;
      index = twice | shift_left(twice + Vec<int64_t, N>(1), 32);
    }
#endif
  }
  SVMF_INLINE Vec<double, N> pick(const double* row) const {
#if defined(__AVX512F__)
    if constexpr (N == 8) {
      const __m512d twice = _mm512_castpd256_pd512(_mm256_loadu_pd(row));
      return (typename Vec<double, N>::Native)_mm512_permutexvar_pd((__m512i)index.v, twice);
    }
#endif
#if defined(__AVX2__)
    if constexpr (N == 4) {
      const __m256 halves = _mm256_castpd_ps(_mm256_loadu_pd(row));
      return (typename Vec<double, N>::Native)_mm256_permutevar8x32_ps(halves, (__m256i)index.v);
    }
#endif
    Vec<double, N> r;
    for (int i = 0; i < N; ++i) r.v[i] = row[index.v[i]];
    return r;
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
