// SPDX-License-Identifier: MIT
// bfloat16 and float16 as they lie in memory. Everything is computed in float; a load widens, a
// store rounds once, to nearest with ties to even, as torch does.
#pragma once

#include <cstdint>

#include "common/host_device.h"

namespace svmf {

namespace half_detail {

SVMF_INLINE uint32_t bits_of(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
SVMF_INLINE float float_of(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

inline constexpr uint32_t kInfinityBits = 0x7f800000;

// float16 has 5 bits of exponent, with a bias of 15, and 10 of fraction. The device converts by an
// instruction.
SVMF_INLINE float widen_float16(uint16_t bits) {
#if SVMF_DEVICE_CODE
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
#else
  const uint32_t sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
  constexpr uint32_t kNotFinite = 0x7c00u << 13;
  // The exponent as if its bias were float's; then 2^(127 - 15), exact for subnormals too.
  const uint32_t magnitude =
      rest >= kNotFinite ? rest | kInfinityBits : bits_of(float_of(rest) * 0x1p112f);
  return float_of(sign | magnitude);
#endif
}
SVMF_INLINE uint16_t round_to_float16(float x) {
#if SVMF_DEVICE_CODE
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const uint32_t all = bits_of(x), sign = all >> 16 & 0x8000u, rest = all & 0x7fffffffu;
  const uint32_t smallest_normal = bits_of(0x1p-14f), first_infinite = bits_of(65520.0f);
  uint32_t magnitude;
  if (rest > kInfinityBits)
    magnitude = 0x7e00;
  else if (rest >= first_infinite)
    magnitude = 0x7c00;
  else if (rest < smallest_normal)  // the sum's last bit is worth 2^-24, a subnormal's unit
    magnitude = bits_of(float_of(rest) + 0.5f) - bits_of(0.5f);
  else
    magnitude = (rest - ((127 - 15) << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
  return static_cast<uint16_t>(sign | magnitude);
#endif
}

// bfloat16 is the upper half of a float.
SVMF_INLINE uint16_t round_to_bfloat16(float x) {
  const uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffu) > kInfinityBits) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace half_detail

struct Float16 {
  uint16_t bits;

  Float16() = default;
  SVMF_INLINE Float16(float x) : bits(half_detail::round_to_float16(x)) {}
  SVMF_INLINE operator float() const { return half_detail::widen_float16(bits); }
};

struct Bfloat16 {
  uint16_t bits;

  Bfloat16() = default;
  SVMF_INLINE Bfloat16(float x) : bits(half_detail::round_to_bfloat16(x)) {}
  SVMF_INLINE operator float() const {
    return half_detail::float_of(static_cast<uint32_t>(bits) << 16);
  }
};

// What is computed in for numbers that are stored as T.
template <class T>
struct ComputeTypeOf {
  using Type = T;
};
template <>
struct ComputeTypeOf<Float16> {
  using Type = float;
};
template <>
struct ComputeTypeOf<Bfloat16> {
  using Type = float;
};
template <class T>
using ComputeType = typename ComputeTypeOf<T>::Type;

}  // namespace svmf

// M(T) for every type that tensors are stored as.
#define SVMF_STORED_TYPES(M) \
  M(float)                   \
  M(double)                  \
  M(::svmf::Float16)         \
  M(::svmf::Bfloat16)
