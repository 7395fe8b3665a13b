// SPDX-License-Identifier: MIT
// The lane interface on x86-64 without AVX: 128 bits, no fma unless the compiler is told so.
#pragma once

#include <immintrin.h>

#include "simd/portable.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kRegisterBytes = 16;

template <>
struct Register<float, 4> : PortableRegister<float, 4> {
#if defined(__FMA__)
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) { return _mm_fmadd_ps(a, b, c); }
#endif
  static SVMF_INLINE Native square_root(Native a) { return _mm_sqrt_ps(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    return static_cast<unsigned>(_mm_movemask_ps((__m128)mask));
  }
  static SVMF_INLINE void store_first(Native a, float* p, int64_t n) {
    if (n >= 4) return _mm_storeu_ps(p, a);
    if (n >= 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), a);
      if (n == 3) _mm_store_ss(p + 2, _mm_movehl_ps(a, a));
    } else if (n == 1) {
      _mm_store_ss(p, a);
    }
  }

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[4]) {
    const __m128 t0 = _mm_unpacklo_ps(v[0].v, v[1].v), t1 = _mm_unpackhi_ps(v[0].v, v[1].v);
    const __m128 t2 = _mm_unpacklo_ps(v[2].v, v[3].v), t3 = _mm_unpackhi_ps(v[2].v, v[3].v);
    v[0].v = _mm_movelh_ps(t0, t2);
    v[1].v = _mm_movehl_ps(t2, t0);
    v[2].v = _mm_movelh_ps(t1, t3);
    v[3].v = _mm_movehl_ps(t3, t1);
  }
};

template <>
struct Register<double, 2> : PortableRegister<double, 2> {
#if defined(__FMA__)
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) { return _mm_fmadd_pd(a, b, c); }
#endif
  static SVMF_INLINE Native square_root(Native a) { return _mm_sqrt_pd(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    return static_cast<unsigned>(_mm_movemask_pd((__m128d)mask));
  }
  static SVMF_INLINE Native load_first(const double* p, int64_t n, double fill) {
    if (n >= 2) return _mm_loadu_pd(p);
    const __m128d rest = _mm_set1_pd(fill);
    return n == 1 ? _mm_loadl_pd(rest, p) : rest;
  }
  static SVMF_INLINE Native load_or_zero(const double* p, int64_t n) { return load_first(p, n, 0); }
  static SVMF_INLINE void store_first(Native a, double* p, int64_t n) {
    if (n >= 2) return _mm_storeu_pd(p, a);
    if (n == 1) _mm_store_sd(p, a);
  }

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[2]) {
    const __m128d low = _mm_unpacklo_pd(v[0].v, v[1].v);
    v[1].v = _mm_unpackhi_pd(v[0].v, v[1].v);
    v[0].v = low;
  }
};

// x86 multiplies the even words of 64-bit lanes, so odd words take a second product.
template <>
struct Register<uint32_t, 4> : PortableRegister<uint32_t, 4> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const __m128i x = (__m128i)a, y = _mm_set1_epi32(static_cast<int>(b));
    const __m128i even = _mm_mul_epu32(x, y), odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), y);
    const __m128i upper = _mm_set_epi32(-1, 0, -1, 0);
    *low = (Native)_mm_or_si128(_mm_andnot_si128(upper, even), _mm_slli_epi64(odd, 32));
    *high = (Native)_mm_or_si128(_mm_srli_epi64(even, 32), _mm_and_si128(upper, odd));
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
