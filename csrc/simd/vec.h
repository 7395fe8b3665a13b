// SPDX-License-Identifier: MIT
// Vec<E, N>: N values side by side, the lane type of the CPU row kernels. GCC's and Clang's vector
// extension does the arithmetic; the rest is asked of the instruction set (Register<E, N>,
// portable.h).
#pragma once

#include <type_traits>

#include "math/lanes.h"
#include "simd/instruction_set.h"

namespace svmf {
inline namespace SVMF_ISA {

// All bits of a lane set or none, in an integer of the lane's size.
template <class I, int N>
struct VecMask {
  using Native = typename Register<I, N>::Native;
  Native v;

  SVMF_INLINE friend VecMask operator&(VecMask a, VecMask b) { return {a.v & b.v}; }
  SVMF_INLINE friend VecMask operator|(VecMask a, VecMask b) { return {a.v | b.v}; }
  SVMF_INLINE bool operator[](int i) const { return v[i] != 0; }
};

template <class E, int N>
struct Vec {
  using Set = Register<E, N>;
  using Native = typename Set::Native;
  // Integers are added as unsigned ones: the bits of a nan may carry over the sign.
  using Unsigned = std::conditional_t<sizeof(E) == 4, uint32_t, uint64_t>;
  using Sum = typename Register<std::conditional_t<std::is_integral_v<E>, Unsigned, E>, N>::Native;
  using Mask = VecMask<typename Set::Signed, N>;
  Native v;

  Vec() = default;
  SVMF_INLINE Vec(Native native) : v(native) {}
  // x - 0 keeps the sign of a negative zero.
  template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>>
  SVMF_INLINE Vec(X x) : v(static_cast<E>(x) - Native{}) {}

  SVMF_INLINE E operator[](int i) const { return v[i]; }

  SVMF_INLINE static Vec load(const E* p) {
    Vec r;
    memcpy(&r.v, p, sizeof(Native));
    return r;
  }
  SVMF_INLINE void store(E* p) const { memcpy(p, &v, sizeof(Native)); }
  // The first n lanes from memory, the others `fill`, or zero.
  SVMF_INLINE static Vec load_first(const E* p, int64_t n, E fill) {
    return Set::load_first(p, n, fill);
  }
  SVMF_INLINE static Vec load_or_zero(const E* p, int64_t n) { return Set::load_or_zero(p, n); }
  SVMF_INLINE void store_first(E* p, int64_t n) const { Set::store_first(v, p, n); }

  SVMF_INLINE friend Vec operator+(Vec a, Vec b) { return (Native)((Sum)a.v + (Sum)b.v); }
  SVMF_INLINE friend Vec operator-(Vec a, Vec b) { return (Native)((Sum)a.v - (Sum)b.v); }
  SVMF_INLINE friend Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  SVMF_INLINE friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  SVMF_INLINE friend Vec operator-(Vec a) { return -a.v; }
  SVMF_INLINE friend Vec operator&(Vec a, Vec b) { return a.v & b.v; }
  SVMF_INLINE friend Vec operator|(Vec a, Vec b) { return a.v | b.v; }
  SVMF_INLINE friend Vec operator^(Vec a, Vec b) { return a.v ^ b.v; }
  SVMF_INLINE friend Mask operator<(Vec a, Vec b) { return {(typename Mask::Native)(a.v < b.v)}; }
  SVMF_INLINE friend Mask operator<=(Vec a, Vec b) { return {(typename Mask::Native)(a.v <= b.v)}; }
  SVMF_INLINE friend Mask operator>(Vec a, Vec b) { return {(typename Mask::Native)(a.v > b.v)}; }
  SVMF_INLINE friend Mask operator>=(Vec a, Vec b) { return {(typename Mask::Native)(a.v >= b.v)}; }
  SVMF_INLINE friend Mask operator==(Vec a, Vec b) { return {(typename Mask::Native)(a.v == b.v)}; }
  SVMF_INLINE friend Mask operator!=(Vec a, Vec b) { return {(typename Mask::Native)(a.v != b.v)}; }
  SVMF_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  SVMF_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  SVMF_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }
};

template <int N>
struct Lanes<Vec<float, N>> {
  using Scalar = float;
  using Int = Vec<int32_t, N>;
  using Word = Vec<uint32_t, N>;
  using Mask = VecMask<int32_t, N>;
  static constexpr int kWidth = N;
};
template <int N>
struct Lanes<Vec<double, N>> {
  using Scalar = double;
  using Int = Vec<int64_t, N>;
  using Word = Vec<uint64_t, N>;
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

// The instruction set's answers about masks stand with the real type of their size.
template <class I, int N>
using MaskRegister = Register<std::conditional_t<sizeof(I) == 4, float, double>, N>;
// The sign bits of the lanes, lane 0 in bit 0.
template <class I, int N>
SVMF_INLINE unsigned bitmask(VecMask<I, N> mask) {
  return MaskRegister<I, N>::bitmask(mask.v);
}
template <class I, int N>
SVMF_INLINE bool any(VecMask<I, N> mask) {
  return MaskRegister<I, N>::any(mask.v);
}
template <class I, int N>
SVMF_INLINE bool all(VecMask<I, N> mask) {
  return MaskRegister<I, N>::all(mask.v);
}
template <class I, int N>
SVMF_INLINE VecMask<I, N> logical_not(VecMask<I, N> mask) {
  return {~mask.v};
}

template <class E, int N>
SVMF_INLINE Vec<E, N> mul_add(Vec<E, N> a, Vec<E, N> b, Vec<E, N> c) {
  return Register<E, N>::mul_add(a.v, b.v, c.v);
}
template <class E, int N>
SVMF_INLINE Vec<E, N> square_root(Vec<E, N> a) {
  return Register<E, N>::square_root(a.v);
}
template <class E, int N>
SVMF_INLINE E sum_lanes(Vec<E, N> a) {
  return Register<E, N>::sum(a.v);
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
template <class I, int N>
SVMF_INLINE auto from_bits(Vec<I, N> a) {
  using V = Vec<std::conditional_t<sizeof(I) == 4, float, double>, N>;
  return V((typename V::Native)a.v);
}
template <class E, int N>
SVMF_INLINE Vec<E, N> absolute(Vec<E, N> a) {
  using Bits = typename Format<E>::Bits;
  return from_bits(to_bits(a) & Vec<Bits, N>(static_cast<Bits>(~(Bits(1) << (8 * sizeof(E) - 1)))));
}
template <class E, int N>
SVMF_INLINE Vec<E, N> shift_left(Vec<E, N> a, int n) {
  using U = typename Vec<E, N>::Unsigned;
  return (typename Vec<E, N>::Native)((typename Vec<U, N>::Native)a.v << n);
}
template <class E, int N>
SVMF_INLINE Vec<E, N> shift_right(Vec<E, N> a, int n) {
  using U = typename Vec<E, N>::Unsigned;
  return (typename Vec<E, N>::Native)((typename Vec<U, N>::Native)a.v >> n);
}

template <class W, int N>
SVMF_INLINE void multiply_words(Vec<W, N> a, uint32_t b, Vec<W, N>* high, Vec<W, N>* low) {
  Register<W, N>::multiply_words(a.v, b, &high->v, &low->v);
}
template <int N>
SVMF_INLINE Vec<float, N> signed_to_real(Vec<uint32_t, N> a) {
  return __builtin_convertvector((typename Vec<int32_t, N>::Native)a.v,
                                 typename Vec<float, N>::Native);
}

template <class E, int N>
struct RowIndex<Vec<E, N>> {
  typename Register<E, N>::Index index;
  SVMF_INLINE explicit RowIndex(IntOf<Vec<E, N>> i) : index(i.v) {}
  SVMF_INLINE Vec<E, N> pick(const E* row) const { return index.pick(row); }
};

// Stores the lanes whose bits are set side by side from `p` on; what follows them up to the width
// of a register is overwritten by something.
template <class E, int N>
SVMF_INLINE void store_packed(Vec<E, N> a, unsigned mask, E* p) {
  Register<E, N>::store_packed(a.v, mask, p);
}

// N x N transposes of registers: rows of memory to lanes and back.
template <class E, int N>
SVMF_INLINE void transpose(Vec<E, N> (&v)[N]) {
  Register<E, N>::transpose(v);
}

// The even and the odd elements of two registers in a row, and back: the transposes of two columns.
template <class E, int N>
SVMF_INLINE void split_pairs(Vec<E, N> a, Vec<E, N> b, Vec<E, N>* even, Vec<E, N>* odd) {
  Register<E, N>::split_pairs(a.v, b.v, &even->v, &odd->v);
}
template <class E, int N>
SVMF_INLINE void join_pairs(Vec<E, N> even, Vec<E, N> odd, Vec<E, N>* a, Vec<E, N>* b) {
  Register<E, N>::join_pairs(even.v, odd.v, &a->v, &b->v);
}

}  // namespace SVMF_ISA
}  // namespace svmf
