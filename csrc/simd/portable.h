// SPDX-License-Identifier: MIT
// The lane interface: what Vec<E, N> (vec.h) asks of an instruction set beyond the arithmetic of
// GCC's and Clang's vector extension, and an answer to every question in plain loops.
//
// An instruction set is one file beside this one. It says how wide its registers are
// (kRegisterBytes) and specialises Register<E, N> for the types that fill one, with functions that
// hide those of PortableRegister where it has an instruction that the loops do not become by
// themselves.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/host_device.h"

namespace svmf {
inline namespace SVMF_ISA {

// Lane i of the result is lane I_i of a, or lane I_i - N of b.
#if defined(__clang__) || __GNUC__ >= 12
#define SVMF_SHUFFLE(Index, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SVMF_SHUFFLE(Index, a, b, ...) __builtin_shuffle(a, b, Index{__VA_ARGS__})
#endif

template <class E, int N>
struct Register;

template <class E, int N>
struct PortableRegister {
  static constexpr int kBytes = static_cast<int>(sizeof(E)) * N;
  using Signed = std::conditional_t<sizeof(E) == 4, int32_t, int64_t>;
  typedef E Native __attribute__((vector_size(kBytes)));
  // All bits of a lane set or none: the type of a comparison.
  typedef Signed Mask __attribute__((vector_size(kBytes)));

  // a*b + c, with one rounding where the hardware has it.
  static SVMF_INLINE Native mul_add(Native a, Native b, Native c) { return a * b + c; }

  static SVMF_INLINE Native square_root(Native a) {
    for (int i = 0; i < N; ++i) {
      if constexpr (sizeof(E) == 4)
        a[i] = __builtin_sqrtf(a[i]);
      else
        a[i] = __builtin_sqrt(a[i]);
    }
    return a;
  }

  // The sign bits of the lanes, lane 0 in bit 0.
  static SVMF_INLINE unsigned bitmask(Mask mask) {
    unsigned bits = 0;
    for (int i = 0; i < N; ++i) bits |= static_cast<unsigned>(mask[i] < 0) << i;
    return bits;
  }

  static SVMF_INLINE bool any(Mask mask) { return Register<E, N>::bitmask(mask) != 0; }
  static SVMF_INLINE bool all(Mask mask) { return Register<E, N>::bitmask(mask) == (1u << N) - 1u; }

  // The sum of the lanes, by halves.
  static SVMF_INLINE E sum(Native a) {
    E part[N];
    memcpy(part, &a, sizeof a);
    for (int half = N / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) part[i] += part[i + half];
    }
    return part[0];
  }

  // The first n lanes from memory, the others `fill`.
  static SVMF_INLINE Native load_first(const E* p, int64_t n, E fill) {
    alignas(kBytes) E buffer[N];
    for (int i = 0; i < N; ++i) buffer[i] = i < n ? p[i] : fill;
    Native a;
    memcpy(&a, buffer, sizeof a);
    return a;
  }
  static SVMF_INLINE Native load_or_zero(const E* p, int64_t n) { return load_first(p, n, E(0)); }
  static SVMF_INLINE void store_first(Native a, E* p, int64_t n) {
    for (int i = 0; i < n && i < N; ++i) p[i] = a[i];
  }

  // Stores the lanes whose bits are set side by side from `p` on; what follows them up to the width
  // of a register is overwritten by something.
  static SVMF_INLINE void store_packed(Native a, unsigned mask, E* p) {
    for (int i = 0; i < N; ++i) {
      *p = a[i];
      p += mask >> i & 1u;
    }
  }

  // The entry of a row of at most 8 floats or 4 doubles that each lane asks for.
  struct Index {
    Mask index;
    SVMF_INLINE explicit Index(Mask i) : index(i) {}
    SVMF_INLINE Native pick(const E* row) const {
      Native a;
      for (int i = 0; i < N; ++i) a[i] = row[index[i]];
      return a;
    }
  };

  // Words of 32 bits, each in a lane of 32 bits or in the low half of one of 64: the product's two
  // words.
  static SVMF_INLINE void multiply_words(Native a, uint32_t b, Native* high, Native* low) {
    if constexpr (sizeof(E) == 8) {
      const Native product = a * static_cast<E>(b);
      *high = product >> 32;
      *low = product & 0xffffffffu;
    } else {
      for (int i = 0; i < N; ++i) {
        const uint64_t product = static_cast<uint64_t>(a[i]) * b;
        (*high)[i] = static_cast<E>(product >> 32);
        (*low)[i] = static_cast<E>(product);
      }
    }
  }

  // Lane j of register i and lane i of register j change places, where register i is v[i].v.
  // Through memory, and out of line because it is long.
  template <class V>
  __attribute__((noinline)) static void transpose(V (&v)[N]) {
    alignas(64) E cells[N][N];
    for (int i = 0; i < N; ++i) memcpy(cells[i], &v[i].v, kBytes);
    alignas(64) E turned[N][N];
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) turned[i][j] = cells[j][i];
    }
    for (int i = 0; i < N; ++i) memcpy(&v[i].v, turned[i], kBytes);
  }

  // The even and the odd elements of two registers in a row, and back: the transposes of two
  // columns.
  static SVMF_INLINE void split_pairs(Native a, Native b, Native* even, Native* odd) {
    split(a, b, even, odd, std::make_integer_sequence<int, N>{});
  }
  static SVMF_INLINE void join_pairs(Native even, Native odd, Native* a, Native* b) {
    join(even, odd, a, b, std::make_integer_sequence<int, N>{});
  }

 private:
  template <int... I>
  static SVMF_INLINE void split(Native a, Native b, Native* even, Native* odd,
                                std::integer_sequence<int, I...>) {
    *even = SVMF_SHUFFLE(Mask, a, b, (2 * I)...);
    *odd = SVMF_SHUFFLE(Mask, a, b, (2 * I + 1)...);
  }
  template <int... I>
  static SVMF_INLINE void join(Native even, Native odd, Native* a, Native* b,
                               std::integer_sequence<int, I...>) {
    *a = SVMF_SHUFFLE(Mask, even, odd, (I / 2 + (I % 2) * N)...);
    *b = SVMF_SHUFFLE(Mask, even, odd, (N / 2 + I / 2 + (I % 2) * N)...);
  }
};

template <class E, int N>
struct Register : PortableRegister<E, N> {};

}  // namespace SVMF_ISA
}  // namespace svmf
