// SPDX-License-Identifier: MIT
// Normal numbers from one Philox block by Box and Muller's transformation: four floats, or two
// doubles. Tails reach 6.6 (float) and 8.5 (double) standard deviations.
#pragma once

#include "math/elementary.h"
#include "math/uniform.h"

namespace svmf {
inline namespace SVMF_ISA {

// log u for a uniform number u in (0, 1]: normal, no special cases, and in float without a division
// (2 ulp).
template <class V>
SVMF_INLINE V log_of_uniform(V u) {
  using S = ScalarOf<V>;
  if constexpr (sizeof(S) == 8) {
    return log_reduced(u, V(0));
  } else {
    using I = IntOf<V>;
    constexpr int32_t kOne = 127 << 23, kSqrtHalf = 0x3f3504f3;
    const I biased = shift_right(to_bits(u) + I(kOne - kSqrtHalf), 23);
    const V f = from_bits(to_bits(u) - shift_left(biased, 23) + I(kOne)) - V(1);
    const V k = from_bits(biased | I(to_bits(0x1p23f))) - V(0x1p23f + 127.0f);
    const V tail = mul_add(f, polynomial<elementary::LogTail<S>>(f), V(-0.5f));
    return mul_add(k, V(S(0.693147180559945309417)), mul_add(f * f, tail, f));
  }
}

// The direction of a row is made of these, `kDrawsPerBlock` to a block, in the order of the
// columns.
template <class V>
SVMF_INLINE void normals(const PhiloxBlock<WordOf<V>>& block,
                         V (&out)[kDrawsPerBlock<ScalarOf<V>>]) {
  for (int i = 0; i < kDrawsPerBlock<ScalarOf<V>>; i += 2) {
    const V log_u = log_of_uniform(open_uniform(block, i, V(0)));
    // u = 1 can round to a logarithm above zero only by the sign of zero.
    const V radius = square_root(absolute(log_u + log_u));
    V sine, cosine;
    sine_cosine_turns(uniform_turns(block, i + 1, V(0)), &sine, &cosine);
    out[i] = radius * cosine;
    out[i + 1] = radius * sine;
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
