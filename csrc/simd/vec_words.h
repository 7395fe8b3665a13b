// SPDX-License-Identifier: MIT
// Random words in vector lanes: the vector forms of csrc/math/philox.h and uniform.h.
#pragma once

#include "math/uniform.h"
#include "simd/vec.h"

namespace svmf {
inline namespace SVMF_ISA {

template <int N>
struct WordsOfLane<Vec<float, N>> {
  using type = Vec<uint32_t, N>;
};
template <int N>
struct WordsOfLane<Vec<double, N>> {
  using type = Vec<uint64_t, N>;
};

// 32x32 -> 64 bit products. x86 multiplies the even words of 64-bit lanes, so odd words take a
// second product.
template <int N>
SVMF_INLINE void multiply_words(Vec<uint32_t, N> a, uint32_t b, Vec<uint32_t, N>* high,
                                Vec<uint32_t, N>* low) {
  using Native = typename Vec<uint32_t, N>::Native;
#if defined(__AVX512F__)
  if constexpr (N == 16) {
    const __m512i x = (__m512i)a.v, y = _mm512_set1_epi32(static_cast<int>(b));
    const __m512i even = _mm512_mul_epu32(x, y),
                  odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), y);
    *low = (Native)_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    *high = (Native)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (N == 8) {
    const __m256i x = (__m256i)a.v, y = _mm256_set1_epi32(static_cast<int>(b));
    const __m256i even = _mm256_mul_epu32(x, y),
                  odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), y);
    *low = (Native)_mm256_mullo_epi32(x, y);
    *high = (Native)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    return;
  }
#endif
#if defined(__SSE2__)
  if constexpr (N == 4) {
    const __m128i x = (__m128i)a.v, y = _mm_set1_epi32(static_cast<int>(b));
    const __m128i even = _mm_mul_epu32(x, y), odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), y);
    const __m128i upper = _mm_set_epi32(-1, 0, -1, 0);
    *low = (Native)_mm_or_si128(_mm_andnot_si128(upper, even), _mm_slli_epi64(odd, 32));
    *high = (Native)_mm_or_si128(_mm_srli_epi64(even, 32), _mm_and_si128(upper, odd));
    return;
  }
#endif
  Native h{}, l{};
  for (int i = 0; i < N; ++i) {
    const uint64_t product = static_cast<uint64_t>(a.v[i]) * b;
    h[i] = static_cast<uint32_t>(product >> 32);
    l[i] = static_cast<uint32_t>(product);
  }
  *high = h;
  *low = l;
}

template <int N>
SVMF_INLINE void multiply_words(Vec<uint64_t, N> a, uint32_t b, Vec<uint64_t, N>* high,
                                Vec<uint64_t, N>* low) {
  using Native = typename Vec<uint64_t, N>::Native;
  Native product;
#if defined(__AVX512F__)
  if constexpr (N == 8)
    product = (Native)_mm512_mul_epu32((__m512i)a.v, _mm512_set1_epi64(b));
  else
#endif
#if defined(__AVX2__)
      if constexpr (N == 4)
    product = (Native)_mm256_mul_epu32((__m256i)a.v, _mm256_set1_epi64x(b));
  else
#endif
    product = a.v * static_cast<uint64_t>(b);
  *high = Native(product >> 32);
  *low = Native(product & 0xffffffffull);
}

template <int N>
SVMF_INLINE Vec<float, N> open_uniform(const PhiloxBlock<Vec<uint32_t, N>>& block, int draw,
                                       Vec<float, N>) {
  const typename Vec<int32_t, N>::Native word =
      (typename Vec<int32_t, N>::Native)(block.word[draw].v >> 1);
  const Vec<float, N> x = __builtin_convertvector(word, typename Vec<float, N>::Native);
  return mul_add(x, Vec<float, N>(0x1p-31f), Vec<float, N>(0x1p-32f));
}
template <int N>
SVMF_INLINE Vec<float, N> uniform_turns(const PhiloxBlock<Vec<uint32_t, N>>& block, int draw,
                                        Vec<float, N>) {
  const typename Vec<int32_t, N>::Native word =
      (typename Vec<int32_t, N>::Native)block.word[draw].v;
  const Vec<float, N> x = __builtin_convertvector(word, typename Vec<float, N>::Native);
  return x * Vec<float, N>(0x1p-32f);
}

template <int N>
SVMF_INLINE void uniform_pair(const PhiloxBlock<Vec<uint32_t, N>>& block, int draw,
                              Vec<float, N>* u, Vec<float, N>* v) {
  const typename Vec<int32_t, N>::Native n =
      (typename Vec<int32_t, N>::Native)(block.word[draw].v >> 1);
  const Vec<float, N> x = __builtin_convertvector(n, typename Vec<float, N>::Native);
  const Vec<float, N> y = __builtin_convertvector(0x7fffffff - n, typename Vec<float, N>::Native);
  *u = mul_add(x, Vec<float, N>(0x1p-31f), Vec<float, N>(0x1p-32f));
  *v = mul_add(y, Vec<float, N>(0x1p-31f), Vec<float, N>(0x1p-32f));
}

// [1, 2) from 52 bits of two words.
template <int N>
SVMF_INLINE Vec<double, N> one_to_two(const PhiloxBlock<Vec<uint64_t, N>>& block, int draw) {
  const auto word = (block.word[2 * draw].v << 32) | block.word[2 * draw + 1].v;
  return (typename Vec<double, N>::Native)((word >> 12) | 0x3ff0000000000000ull);
}
template <int N>
SVMF_INLINE Vec<double, N> open_uniform(const PhiloxBlock<Vec<uint64_t, N>>& block, int draw,
                                        Vec<double, N>) {
  return one_to_two(block, draw) - Vec<double, N>(1.0 - 0x1p-53);
}
template <int N>
SVMF_INLINE Vec<double, N> uniform_turns(const PhiloxBlock<Vec<uint64_t, N>>& block, int draw,
                                         Vec<double, N>) {
  return one_to_two(block, draw) - Vec<double, N>(1.5);
}

template <int N>
SVMF_INLINE void uniform_pair(const PhiloxBlock<Vec<uint64_t, N>>& block, int draw,
                              Vec<double, N>* u, Vec<double, N>* v) {
  *u = open_uniform(block, draw, Vec<double, N>(0));
  *v = Vec<double, N>(1) - *u;
}

// The row half of N counters; the block and the purpose complete it.
template <class V>
struct RowCounters {
  using W = WordOf<V>;
  using Word = std::conditional_t<sizeof(ScalarOf<V>) == 4, uint32_t, uint64_t>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  W low, high;

  // N consecutive rows.
  SVMF_INLINE explicit RowCounters(uint64_t first_row) : RowCounters(first_row, lane_numbers()) {}
  // Rows first_row + offset, offset < 2^31.
  SVMF_INLINE RowCounters(uint64_t first_row, W offset) {
    const W start(static_cast<uint32_t>(first_row));
    const W sum = start + offset;
    // A carry into the upper word: of 32 bits by comparison, of 64 bits by itself.
    if constexpr (sizeof(Word) == 4) {
      low = sum;
      // A true comparison is -1.
      high = W(static_cast<uint32_t>(first_row >> 32)) - W((typename W::Native)(sum < start).v);
    } else {
      low = sum & W(0xffffffffu);
      high = W(static_cast<uint32_t>(first_row >> 32)) + shift_right(sum, 32);
    }
  }

  // 0, 1, ... N-1.
  SVMF_INLINE static W lane_numbers() {
    alignas(64) static constexpr Word kSteps[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
    return W::load(kSteps);
  }

  SVMF_INLINE PhiloxBlock<W> block(uint32_t index, uint32_t purpose) const {
    return {{low, high, W(index), W(purpose)}};
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
