// SPDX-License-Identifier: MIT
// The vocabulary in which csrc/math is written. A "lane type" V is float or double (one value: CUDA
// threads, tails, tests) or svmf::Vec<float, N>, svmf::Vec<double, N> (csrc/simd/vec.h: N rows at
// once on the CPU). The mathematics is written once, without branches on values, and instantiated
// for all of them.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/host_device.h"

namespace svmf {
inline namespace SVMF_ISA {

// The types that go with a lane type.
template <class V>
struct Lanes;

template <>
struct Lanes<float> {
  using Scalar = float;
  using Int = int32_t;
  using Word = uint32_t;
  using Mask = bool;
  static constexpr int kWidth = 1;
};

template <>
struct Lanes<double> {
  using Scalar = double;
  using Int = int64_t;
  using Word = uint64_t;
  using Mask = bool;
  static constexpr int kWidth = 1;
};

template <class V>
using ScalarOf = typename Lanes<V>::Scalar;
template <class V>
using IntOf = typename Lanes<V>::Int;
// A random word of 32 bits: in 32 bits beside float, in the low half of 64 bits beside double.
template <class V>
using WordOf = typename Lanes<V>::Word;
template <class V>
using MaskOf = typename Lanes<V>::Mask;

// Facts about the binary formats.
template <class Scalar>
struct Format;
template <>
struct Format<float> {
  using Bits = int32_t;
  static constexpr int kFractionBits = 23;
  static constexpr int kBias = 127;
  static constexpr float kEpsilon = 0x1p-23f;
  static constexpr float kInfinity = __builtin_huge_valf();
  static constexpr float kNan = __builtin_nanf("");
};
template <>
struct Format<double> {
  using Bits = int64_t;
  static constexpr int kFractionBits = 52;
  static constexpr int kBias = 1023;
  static constexpr double kEpsilon = 0x1p-52;
  static constexpr double kInfinity = __builtin_huge_val();
  static constexpr double kNan = __builtin_nan("");
};

// a*b + c with one rounding where the hardware has it. Never through a library call: that would be
// a hundred times slower on the baseline instruction set, and nothing here needs the single
// rounding to be correct.
SVMF_INLINE float mul_add(float a, float b, float c) {
#if SVMF_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
SVMF_INLINE double mul_add(double a, double b, double c) {
#if SVMF_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

SVMF_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
SVMF_INLINE double square_root(double x) { return __builtin_sqrt(x); }
SVMF_INLINE float absolute(float x) { return __builtin_fabsf(x); }
SVMF_INLINE double absolute(double x) { return __builtin_fabs(x); }

SVMF_INLINE float select(bool mask, float yes, float no) { return mask ? yes : no; }
SVMF_INLINE double select(bool mask, double yes, double no) { return mask ? yes : no; }
SVMF_INLINE int32_t select(bool mask, int32_t yes, int32_t no) { return mask ? yes : no; }
SVMF_INLINE int64_t select(bool mask, int64_t yes, int64_t no) { return mask ? yes : no; }
SVMF_INLINE bool any(bool mask) { return mask; }
SVMF_INLINE bool all(bool mask) { return mask; }
SVMF_INLINE bool logical_not(bool mask) { return !mask; }

SVMF_INLINE int32_t to_bits(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SVMF_INLINE int64_t to_bits(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SVMF_INLINE float from_bits(int32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SVMF_INLINE double from_bits(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SVMF_INLINE double from_bits(uint64_t bits) { return from_bits(static_cast<int64_t>(bits)); }

// Shifts of the bit pattern as an unsigned number.
SVMF_INLINE int32_t shift_left(int32_t x, int n) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << n);
}
SVMF_INLINE int64_t shift_left(int64_t x, int n) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) << n);
}
SVMF_INLINE int32_t shift_right(int32_t x, int n) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) >> n);
}
SVMF_INLINE int64_t shift_right(int64_t x, int n) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) >> n);
}
SVMF_INLINE uint32_t shift_right(uint32_t x, int n) { return x >> n; }
SVMF_INLINE uint64_t shift_left(uint64_t x, int n) { return x << n; }
SVMF_INLINE uint64_t shift_right(uint64_t x, int n) { return x >> n; }

// Sums of bit patterns: the bits of a nan may carry over the sign, which a signed sum of one lane
// must not.
template <class I>
SVMF_INLINE I add_bits(I a, I b) {
  return a + b;
}
SVMF_INLINE int32_t add_bits(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
SVMF_INLINE int64_t add_bits(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// The two words of a word's product, and a word as a signed integer in a real number.
SVMF_INLINE void multiply_words(uint32_t a, uint32_t b, uint32_t* high, uint32_t* low) {
#if SVMF_DEVICE_CODE  // nvcc would multiply in 64 bits and add the high parts
  uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(*low), "=r"(*high) : "l"(product));
#else
  const uint64_t product = static_cast<uint64_t>(a) * b;
  *high = static_cast<uint32_t>(product >> 32);
  *low = static_cast<uint32_t>(product);
#endif
}
SVMF_INLINE void multiply_words(uint64_t a, uint32_t b, uint64_t* high, uint64_t* low) {
  const uint64_t product = a * b;
  *high = product >> 32;
  *low = product & 0xffffffffu;
}
SVMF_INLINE float signed_to_real(uint32_t x) { return static_cast<float>(static_cast<int32_t>(x)); }

// The entry of a row of at most 8 floats or 4 doubles that each lane asks for: one permute
// instruction on the CPU.
template <class V>
struct RowIndex;
template <>
struct RowIndex<float> {
  int32_t index;
  SVMF_INLINE explicit RowIndex(int32_t i) : index(i) {}
  SVMF_INLINE float pick(const float* row) const { return row[index]; }
};
template <>
struct RowIndex<double> {
  int64_t index;
  SVMF_INLINE explicit RowIndex(int64_t i) : index(i) {}
  SVMF_INLINE double pick(const double* row) const { return row[index]; }
};

// Written for every lane type in terms of the above.
template <class V>
SVMF_INLINE V minimum(V a, V b) {
  return select(b < a, b, a);
}
template <class V>
SVMF_INLINE V maximum(V a, V b) {
  return select(a < b, b, a);
}
template <class V>
SVMF_INLINE V infinity() {
  return V(Format<ScalarOf<V>>::kInfinity);
}
template <class V>
SVMF_INLINE V not_a_number() {
  return V(Format<ScalarOf<V>>::kNan);
}
template <class V>
SVMF_INLINE V square(V x) {
  return x * x;
}

// sum of Table::at(i) x^i by Horner's rule, unrolled at compile time.
template <class Table, class V, int I = 0>
SVMF_INLINE V polynomial(V x) {
  if constexpr (I == Table::kCount - 1) {
    return V(Table::at(I));
  } else {
    return mul_add(polynomial<Table, V, I + 1>(x), x, V(Table::at(I)));
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
