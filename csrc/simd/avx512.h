// SPDX-License-Identifier: MIT
// The lane interface on x86-64 with AVX-512 F, BW, DQ and VL: 512 bits.
#pragma once

#include <immintrin.h>

#include "simd/portable.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kRegisterBytes = 64;

template <>
struct Register<float, 16> : PortableRegister<float, 16> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  static SVMF_INLINE Native square_root(Native a) { return _mm512_sqrt_ps(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) { return _mm512_movepi32_mask((__m512i)mask); }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, float* p) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), (__m512i)a));
  }

  // Quarters of 4 x 4 floats are turned within 128 bits, then moved. Out of line because it is
  // long.
  template <class V>
  __attribute__((noinline)) static void transpose(V (&v)[16]) {
    __m512 t[16], u[16];
    for (int i = 0; i < 16; i += 2) {
      t[i] = _mm512_unpacklo_ps(v[i].v, v[i + 1].v);
      t[i + 1] = _mm512_unpackhi_ps(v[i].v, v[i + 1].v);
    }
    // u[i + j] has, in quarter q, column 4q + j of the rows i ... i + 3.
    for (int i = 0; i < 16; i += 4) {
      u[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
      u[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
      u[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      u[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int j = 0; j < 4; ++j) {
      const __m512 a = _mm512_shuffle_f32x4(u[j], u[j + 4], 0x88);  // quarters 0, 2
      const __m512 b = _mm512_shuffle_f32x4(u[j], u[j + 4], 0xdd);  // quarters 1, 3
      const __m512 c = _mm512_shuffle_f32x4(u[j + 8], u[j + 12], 0x88);
      const __m512 d = _mm512_shuffle_f32x4(u[j + 8], u[j + 12], 0xdd);
      v[j].v = _mm512_shuffle_f32x4(a, c, 0x88);
      v[j + 8].v = _mm512_shuffle_f32x4(a, c, 0xdd);
      v[j + 4].v = _mm512_shuffle_f32x4(b, d, 0x88);
      v[j + 12].v = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
  }

  struct Index {
    __m512i index;
    SVMF_INLINE explicit Index(Mask i) : index((__m512i)i) {}
    SVMF_INLINE Native pick(const float* row) const {
      return _mm512_permutexvar_ps(index, _mm512_castps256_ps512(_mm256_loadu_ps(row)));
    }
  };
};

template <>
struct Register<double, 8> : PortableRegister<double, 8> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  static SVMF_INLINE Native square_root(Native a) { return _mm512_sqrt_pd(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) { return _mm512_movepi64_mask((__m512i)mask); }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, double* p) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)a));
  }

  template <class V>
  __attribute__((noinline)) static void transpose(V (&v)[8]) {
    __m512d t[8];
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm512_unpacklo_pd(v[i].v, v[i + 1].v);
      t[i + 1] = _mm512_unpackhi_pd(v[i].v, v[i + 1].v);
    }
    // t[i + j] has, in quarter q, column 2q + j of the rows i and i + 1.
    for (int j = 0; j < 2; ++j) {
      const __m512d a = _mm512_shuffle_f64x2(t[j], t[j + 2], 0x88);
      const __m512d b = _mm512_shuffle_f64x2(t[j], t[j + 2], 0xdd);
      const __m512d c = _mm512_shuffle_f64x2(t[j + 4], t[j + 6], 0x88);
      const __m512d d = _mm512_shuffle_f64x2(t[j + 4], t[j + 6], 0xdd);
      v[j].v = _mm512_shuffle_f64x2(a, c, 0x88);
      v[j + 4].v = _mm512_shuffle_f64x2(a, c, 0xdd);
      v[j + 2].v = _mm512_shuffle_f64x2(b, d, 0x88);
      v[j + 6].v = _mm512_shuffle_f64x2(b, d, 0xdd);
    }
  }

  struct Index {
    __m512i index;
    SVMF_INLINE explicit Index(Mask i) : index((__m512i)i) {}
    SVMF_INLINE Native pick(const double* row) const {
      return _mm512_permutexvar_pd(index, _mm512_castpd256_pd512(_mm256_loadu_pd(row)));
    }
  };
};

// x86 multiplies the even words of 64-bit lanes, so odd words take a second product.
template <>
struct Register<uint32_t, 16> : PortableRegister<uint32_t, 16> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const __m512i x = (__m512i)a, y = _mm512_set1_epi32(static_cast<int>(b));
    const __m512i even = _mm512_mul_epu32(x, y),
                  odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), y);
    *low = (Native)_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    *high = (Native)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, uint32_t* p) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), (__m512i)a));
  }
};

template <>
struct Register<uint64_t, 8> : PortableRegister<uint64_t, 8> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const Native product = (Native)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
    *high = product >> 32;
    *low = product & 0xffffffffu;
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, uint64_t* p) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)a));
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
