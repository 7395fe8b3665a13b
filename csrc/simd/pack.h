// SPDX-License-Identifier: MIT
// Lanes chosen by a mask, side by side in memory.
#pragma once

#include <cstdint>

#include "simd/twin.h"

namespace svmf {
inline namespace SVMF_ISA {

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

// Stores the lanes whose bits are set from `p` on; what follows them up to the width of a register
// is overwritten by something.
template <class E, int N>
SVMF_INLINE void store_packed(Vec<E, N> v, unsigned mask, E* p) {
#if defined(__AVX512F__)
  if constexpr (sizeof(E) * N == 64 && sizeof(E) == 4) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), (__m512i)v.v));
    return;
  } else if constexpr (sizeof(E) * N == 64) {
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)v.v));
    return;
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(E) == 4 && N == 8) {
    const __m256i index = _mm256_cvtepu8_epi32(
        _mm_cvtsi64_si128(static_cast<int64_t>(kPackingTable.positions[mask])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm256_permutevar8x32_epi32((__m256i)v.v, index));
    return;
  }
#endif
  for (int i = 0; i < N; ++i) {
    *p = v[i];
    p += mask >> i & 1u;
  }
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
