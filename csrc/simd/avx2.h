// SPDX-License-Identifier: MIT
// The lane interface on x86-64 with AVX2 and FMA: 256 bits.
#pragma once

#include <immintrin.h>

#include "simd/portable.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kRegisterBytes = 32;

// For each mask of 8 lanes, the positions of its set bits, a byte each from the lowest on.
struct PackingTable {
  uint64_t positions[256];
  constexpr PackingTable() : positions() {
    for (unsigned mask = 0; mask < 256; ++mask) {
      int shift = 0;
      for (uint64_t lane = 0; lane < 8; ++lane) {
        if (mask >> lane & 1u) {
          positions[mask] |= lane << shift;
          shift += 8;
        }
      }
    }
  }
};
inline constexpr PackingTable kPackingTable;

// Of floats and of words alike.
SVMF_INLINE void store_packed_words(__m256i v, unsigned mask, void* p) {
  const __m256i index =
      _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(kPackingTable.positions[mask])));
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm256_permutevar8x32_epi32(v, index));
}

template <>
struct Register<float, 8> : PortableRegister<float, 8> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  static SVMF_INLINE Native square_root(Native a) { return _mm256_sqrt_ps(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
  }

  static SVMF_INLINE float sum(Native a) {
    const __m128 quad = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 pair = _mm_add_ps(quad, _mm_movehl_ps(quad, quad));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
  }

  static SVMF_INLINE Native load_or_zero(const float* p, int64_t n) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes));
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, float* p) {
    store_packed_words((__m256i)a, mask, p);
  }

  struct Index {
    __m256i index;
    SVMF_INLINE explicit Index(Mask i) : index((__m256i)i) {}
    SVMF_INLINE Native pick(const float* row) const {
      return _mm256_permutevar8x32_ps(_mm256_loadu_ps(row), index);
    }
  };

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[8]) {
    __m256 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm256_unpacklo_ps(v[i].v, v[i + 1].v);
      t[i + 1] = _mm256_unpackhi_ps(v[i].v, v[i + 1].v);
    }
    for (int i = 0; i < 8; i += 4) {
      u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
      u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
      u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      v[i].v = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
      v[i + 4].v = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
  }
};

template <>
struct Register<double, 4> : PortableRegister<double, 4> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) {
    return _mm256_fmadd_pd(a, b, c);
  }
  static SVMF_INLINE Native square_root(Native a) { return _mm256_sqrt_pd(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask));
  }

  static SVMF_INLINE double sum(Native a) {
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
  }

  static SVMF_INLINE Native load_or_zero(const double* p, int64_t n) {
    const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lanes));
  }

  // The permute moves 32 bits: the indices of the two halves of each entry.
  struct Index {
    __m256i halves;
    SVMF_INLINE explicit Index(Mask i) {
      const __m256i twice = _mm256_add_epi64((__m256i)i, (__m256i)i);
      halves = _mm256_or_si256(
          twice, _mm256_slli_epi64(_mm256_add_epi64(twice, _mm256_set1_epi64x(1)), 32));
    }
    SVMF_INLINE Native pick(const double* row) const {
      return (Native)_mm256_permutevar8x32_ps(_mm256_castpd_ps(_mm256_loadu_pd(row)), halves);
    }
  };

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[4]) {
    const __m256d t0 = _mm256_unpacklo_pd(v[0].v, v[1].v), t1 = _mm256_unpackhi_pd(v[0].v, v[1].v);
    const __m256d t2 = _mm256_unpacklo_pd(v[2].v, v[3].v), t3 = _mm256_unpackhi_pd(v[2].v, v[3].v);
    v[0].v = _mm256_permute2f128_pd(t0, t2, 0x20);
    v[1].v = _mm256_permute2f128_pd(t1, t3, 0x20);
    v[2].v = _mm256_permute2f128_pd(t0, t2, 0x31);
    v[3].v = _mm256_permute2f128_pd(t1, t3, 0x31);
  }
};

// x86 multiplies the even words of 64-bit lanes, so odd words take a second product.
template <>
struct Register<uint32_t, 8> : PortableRegister<uint32_t, 8> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const __m256i x = (__m256i)a, y = _mm256_set1_epi32(static_cast<int>(b));
    const __m256i even = _mm256_mul_epu32(x, y),
                  odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), y);
    *low = (Native)_mm256_mullo_epi32(x, y);
    *high = (Native)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, uint32_t* p) {
    store_packed_words((__m256i)a, mask, p);
  }
};

template <>
struct Register<uint64_t, 4> : PortableRegister<uint64_t, 4> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const Native product = (Native)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
    *high = product >> 32;
    *low = product & 0xffffffffu;
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
