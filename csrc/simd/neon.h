// SPDX-License-Identifier: MIT
// The lane interface on 64-bit ARM: 128 bits, with fma. Every such processor has these
// instructions.
#pragma once

#include <arm_neon.h>

#include "simd/portable.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kRegisterBytes = 16;

// For each mask of 4 lanes, the bytes of the lanes whose bits are set, from the lowest on.
struct PackingTable {
  uint8_t bytes[16][16];
  constexpr PackingTable() : bytes() {
    for (int mask = 0; mask < 16; ++mask) {
      int end = 0;
      for (int lane = 0; lane < 4; ++lane) {
        if (mask >> lane & 1) {
          for (int i = 0; i < 4; ++i) bytes[mask][end++] = static_cast<uint8_t>(4 * lane + i);
        }
      }
    }
  }
};
inline constexpr PackingTable kPackingTable;

// Of floats and of words alike.
SVMF_INLINE void store_packed_words(uint8x16_t v, unsigned mask, void* p) {
  vst1q_u8(static_cast<uint8_t*>(p), vqtbl1q_u8(v, vld1q_u8(kPackingTable.bytes[mask])));
}

// 32 bytes of a row, looked up by the byte.
SVMF_INLINE uint8x16_t look_up(const void* row, uint8x16_t bytes) {
  const uint8_t* p = static_cast<const uint8_t*>(row);
  return vqtbl2q_u8(uint8x16x2_t{{vld1q_u8(p), vld1q_u8(p + 16)}}, bytes);
}

template <>
struct Register<float, 4> : PortableRegister<float, 4> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) { return vfmaq_f32(c, a, b); }
  static SVMF_INLINE Native square_root(Native a) { return vsqrtq_f32(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)mask, bits));
  }
  static SVMF_INLINE bool any(Mask mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
  static SVMF_INLINE bool all(Mask mask) { return vminvq_u32((uint32x4_t)mask) != 0; }

  static SVMF_INLINE float sum(Native a) {
    const float32x2_t pair = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpadd_f32(pair, pair), 0);
  }

  static SVMF_INLINE Native load_first(const float* p, int64_t n, float fill) {
    if (n >= 4) return vld1q_f32(p);
    float32x4_t a = vdupq_n_f32(fill);
    if (n >= 2) {
      a = vcombine_f32(vld1_f32(p), vget_high_f32(a));
      return n == 3 ? vld1q_lane_f32(p + 2, a, 2) : a;
    }
    return n == 1 ? vld1q_lane_f32(p, a, 0) : a;
  }
  static SVMF_INLINE Native load_or_zero(const float* p, int64_t n) { return load_first(p, n, 0); }
  static SVMF_INLINE void store_first(Native a, float* p, int64_t n) {
    if (n >= 4) return vst1q_f32(p, a);
    if (n >= 2) {
      vst1_f32(p, vget_low_f32(a));
      if (n == 3) vst1q_lane_f32(p + 2, a, 2);
    } else if (n == 1) {
      vst1q_lane_f32(p, a, 0);
    }
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, float* p) {
    store_packed_words((uint8x16_t)a, mask, p);
  }

  struct Index {
    uint8x16_t bytes;
    SVMF_INLINE explicit Index(Mask i)
        : bytes((uint8x16_t)vmlaq_n_u32(vdupq_n_u32(0x03020100), (uint32x4_t)i, 0x04040404)) {}
    SVMF_INLINE Native pick(const float* row) const { return (Native)look_up(row, bytes); }
  };

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[4]) {
    const float64x2_t t0 = (float64x2_t)vtrn1q_f32(v[0].v, v[1].v);
    const float64x2_t t1 = (float64x2_t)vtrn2q_f32(v[0].v, v[1].v);
    const float64x2_t t2 = (float64x2_t)vtrn1q_f32(v[2].v, v[3].v);
    const float64x2_t t3 = (float64x2_t)vtrn2q_f32(v[2].v, v[3].v);
    v[0].v = (Native)vtrn1q_f64(t0, t2);
    v[1].v = (Native)vtrn1q_f64(t1, t3);
    v[2].v = (Native)vtrn2q_f64(t0, t2);
    v[3].v = (Native)vtrn2q_f64(t1, t3);
  }
};

template <>
struct Register<double, 2> : PortableRegister<double, 2> {
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) { return vfmaq_f64(c, a, b); }
  static SVMF_INLINE Native square_root(Native a) { return vsqrtq_f64(a); }
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    const uint64x2_t bits = {1, 2};
    return static_cast<unsigned>(vaddvq_u64(vandq_u64((uint64x2_t)mask, bits)));
  }
  static SVMF_INLINE bool any(Mask mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
  static SVMF_INLINE bool all(Mask mask) { return vminvq_u32((uint32x4_t)mask) != 0; }
  static SVMF_INLINE double sum(Native a) { return vpaddd_f64(a); }

  static SVMF_INLINE Native load_first(const double* p, int64_t n, double fill) {
    if (n >= 2) return vld1q_f64(p);
    const float64x2_t a = vdupq_n_f64(fill);
    return n == 1 ? vld1q_lane_f64(p, a, 0) : a;
  }
  static SVMF_INLINE Native load_or_zero(const double* p, int64_t n) { return load_first(p, n, 0); }
  static SVMF_INLINE void store_first(Native a, double* p, int64_t n) {
    if (n >= 2) return vst1q_f64(p, a);
    if (n == 1) vst1q_lane_f64(p, a, 0);
  }

  struct Index {
    uint8x16_t bytes;
    SVMF_INLINE explicit Index(Mask i) {
      const uint32x4_t halves = vtrn1q_u32((uint32x4_t)i, (uint32x4_t)i);
      const uint32x4_t start = {0x03020100, 0x07060504, 0x03020100, 0x07060504};
      bytes = (uint8x16_t)vmlaq_n_u32(start, halves, 0x08080808);
    }
    SVMF_INLINE Native pick(const double* row) const { return (Native)look_up(row, bytes); }
  };

  template <class V>
  static SVMF_INLINE void transpose(V (&v)[2]) {
    const float64x2_t a = v[0].v, b = v[1].v;
    v[0].v = vtrn1q_f64(a, b);
    v[1].v = vtrn2q_f64(a, b);
  }
};

template <>
struct Register<uint32_t, 4> : PortableRegister<uint32_t, 4> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const uint32x4_t factor = vdupq_n_u32(b);
    const uint32x4_t first =
        (uint32x4_t)vmull_u32(vget_low_u32((uint32x4_t)a), vget_low_u32(factor));
    const uint32x4_t second = (uint32x4_t)vmull_high_u32((uint32x4_t)a, factor);
    *low = (Native)vuzp1q_u32(first, second);
    *high = (Native)vuzp2q_u32(first, second);
  }
  static SVMF_INLINE void store_packed(Native a, unsigned mask, uint32_t* p) {
    store_packed_words((uint8x16_t)a, mask, p);
  }
};

template <>
struct Register<uint64_t, 2> : PortableRegister<uint64_t, 2> {
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    const Native product = (Native)vmull_n_u32(vmovn_u64((uint64x2_t)a), b);
    *high = product >> 32;
    *low = product & 0xffffffffu;
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
