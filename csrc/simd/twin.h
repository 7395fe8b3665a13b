// SPDX-License-Identifier: MIT
// Twin<V>: two registers side by side as one lane type of twice the width. The functions of
// csrc/math are long chains of dependent operations; two chains at once keep the processor's
// pipelines busy where one would wait for itself.
#pragma once

#include <type_traits>
#include <utility>

#include "simd/vec.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class V>
struct Twin {
  V a, b;

  Twin() = default;
  // By halves: as one object GCC copies it through memory in pieces, and the next load of a whole
  // register waits for them.
  SVMF_INLINE Twin(const Twin& x) : a(x.a), b(x.b) {}
  SVMF_INLINE Twin& operator=(const Twin& x) {
    a = x.a;
    b = x.b;
    return *this;
  }
  SVMF_INLINE Twin(V first, V second) : a(first), b(second) {}
  // Whatever one register can be made of, both are made of.
  template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>>
  SVMF_INLINE Twin(X x) : a(x), b(x) {}

  SVMF_INLINE auto operator[](int i) const { return i < kHalf ? a[i] : b[i - kHalf]; }

  template <class E>
  SVMF_INLINE static Twin load(const E* p) {
    return {V::load(p), V::load(p + kHalf)};
  }
  template <class E>
  SVMF_INLINE void store(E* p) const {
    a.store(p);
    b.store(p + kHalf);
  }
  template <class E>
  SVMF_INLINE static Twin load_first(const E* p, int64_t n, E fill) {
    if (n >= 2 * kHalf) return load(p);
    return {V::load_first(p, n, fill),
            n > kHalf ? V::load_first(p + kHalf, n - kHalf, fill) : V(fill)};
  }
  template <class E>
  SVMF_INLINE void store_first(E* p, int64_t n) const {
    if (n >= 2 * kHalf) return store(p);
    a.store_first(p, n);
    if (n > kHalf) b.store_first(p + kHalf, n - kHalf);
  }

  SVMF_INLINE friend Twin operator+(Twin x, Twin y) { return {x.a + y.a, x.b + y.b}; }
  SVMF_INLINE friend Twin operator-(Twin x, Twin y) { return {x.a - y.a, x.b - y.b}; }
  SVMF_INLINE friend Twin operator*(Twin x, Twin y) { return {x.a * y.a, x.b * y.b}; }
  SVMF_INLINE friend Twin operator/(Twin x, Twin y) { return {x.a / y.a, x.b / y.b}; }
  SVMF_INLINE friend Twin operator-(Twin x) { return {-x.a, -x.b}; }
  SVMF_INLINE friend Twin operator&(Twin x, Twin y) { return {x.a & y.a, x.b & y.b}; }
  SVMF_INLINE friend Twin operator|(Twin x, Twin y) { return {x.a | y.a, x.b | y.b}; }
  SVMF_INLINE friend Twin operator^(Twin x, Twin y) { return {x.a ^ y.a, x.b ^ y.b}; }
  SVMF_INLINE friend auto operator<(Twin x, Twin y) { return twin(x.a < y.a, x.b < y.b); }
  SVMF_INLINE friend auto operator<=(Twin x, Twin y) { return twin(x.a <= y.a, x.b <= y.b); }
  SVMF_INLINE friend auto operator>(Twin x, Twin y) { return twin(x.a > y.a, x.b > y.b); }
  SVMF_INLINE friend auto operator>=(Twin x, Twin y) { return twin(x.a >= y.a, x.b >= y.b); }
  SVMF_INLINE friend auto operator==(Twin x, Twin y) { return twin(x.a == y.a, x.b == y.b); }
  SVMF_INLINE friend auto operator!=(Twin x, Twin y) { return twin(x.a != y.a, x.b != y.b); }
  SVMF_INLINE Twin& operator+=(Twin y) { return *this = *this + y; }
  SVMF_INLINE Twin& operator-=(Twin y) { return *this = *this - y; }
  SVMF_INLINE Twin& operator*=(Twin y) { return *this = *this * y; }

 private:
  static constexpr int kHalf = sizeof(V) / sizeof(std::declval<V>()[0]);

  template <class M>
  SVMF_INLINE static auto twin(M x, M y);
};

template <class M>
struct TwinMask {
  M a, b;
  SVMF_INLINE friend TwinMask operator&(TwinMask x, TwinMask y) { return {x.a & y.a, x.b & y.b}; }
  SVMF_INLINE friend TwinMask operator|(TwinMask x, TwinMask y) { return {x.a | y.a, x.b | y.b}; }
};

template <class V>
template <class M>
SVMF_INLINE auto Twin<V>::twin(M x, M y) {
  return TwinMask<M>{x, y};
}

template <class V>
struct Lanes<Twin<V>> {
  using Scalar = ScalarOf<V>;
  using Int = Twin<IntOf<V>>;
  using Word = Twin<WordOf<V>>;
  using Mask = TwinMask<MaskOf<V>>;
  static constexpr int kWidth = 2 * Lanes<V>::kWidth;
};

template <class M, class V>
SVMF_INLINE Twin<V> select(TwinMask<M> mask, Twin<V> yes, Twin<V> no) {
  return {select(mask.a, yes.a, no.a), select(mask.b, yes.b, no.b)};
}
template <class I, int N>
SVMF_INLINE unsigned bitmask(TwinMask<VecMask<I, N>> mask) {
  return bitmask(mask.a) | bitmask(mask.b) << N;
}
template <class M>
SVMF_INLINE bool any(TwinMask<M> mask) {
  return any(mask.a | mask.b);
}
template <class M>
SVMF_INLINE bool all(TwinMask<M> mask) {
  return all(mask.a & mask.b);
}
template <class M>
SVMF_INLINE TwinMask<M> logical_not(TwinMask<M> mask) {
  return {logical_not(mask.a), logical_not(mask.b)};
}
template <class V>
SVMF_INLINE Twin<V> mul_add(Twin<V> x, Twin<V> y, Twin<V> z) {
  return {mul_add(x.a, y.a, z.a), mul_add(x.b, y.b, z.b)};
}
template <class V>
SVMF_INLINE Twin<V> square_root(Twin<V> x) {
  return {square_root(x.a), square_root(x.b)};
}
template <class V>
SVMF_INLINE Twin<V> absolute(Twin<V> x) {
  return {absolute(x.a), absolute(x.b)};
}
template <class V>
SVMF_INLINE Twin<IntOf<V>> to_bits(Twin<V> x) {
  return {to_bits(x.a), to_bits(x.b)};
}
template <class I>
SVMF_INLINE auto from_bits(Twin<I> x) {
  return Twin<decltype(from_bits(x.a))>{from_bits(x.a), from_bits(x.b)};
}
template <class I>
SVMF_INLINE Twin<I> shift_left(Twin<I> x, int n) {
  return {shift_left(x.a, n), shift_left(x.b, n)};
}
template <class I>
SVMF_INLINE Twin<I> shift_right(Twin<I> x, int n) {
  return {shift_right(x.a, n), shift_right(x.b, n)};
}
template <class V>
struct RowIndex<Twin<V>> {
  RowIndex<V> a, b;
  SVMF_INLINE explicit RowIndex(Twin<IntOf<V>> i) : a(i.a), b(i.b) {}
  SVMF_INLINE Twin<V> pick(const ScalarOf<V>* row) const { return {a.pick(row), b.pick(row)}; }
};

template <class W>
SVMF_INLINE void multiply_words(Twin<W> x, uint32_t y, Twin<W>* high, Twin<W>* low) {
  multiply_words(x.a, y, &high->a, &low->a);
  multiply_words(x.b, y, &high->b, &low->b);
}
template <class W>
SVMF_INLINE auto signed_to_real(Twin<W> x) {
  return Twin<decltype(signed_to_real(x.a))>{signed_to_real(x.a), signed_to_real(x.b)};
}

template <class V, class E>
SVMF_INLINE void store_packed(Twin<V> v, unsigned mask, E* p) {
  constexpr int kHalf = sizeof(V) / sizeof(E);
  constexpr unsigned kFirst = (1u << kHalf) - 1u;
  store_packed(v.a, mask & kFirst, p);
  store_packed(v.b, mask >> kHalf, p + __builtin_popcount(mask & kFirst));
}

}  // namespace SVMF_ISA
}  // namespace svmf
