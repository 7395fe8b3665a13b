// SPDX-License-Identifier: MIT
// Normal numbers from one Philox block by Box and Muller's transformation: four floats, or two
// doubles. Tails reach 6.6 (float) and 8.5 (double) standard deviations.
#pragma once

#include "math/elementary.h"
#include "math/uniform.h"

namespace svmf {
inline namespace SVMF_ISA {

// The direction of a row is made of these, `kDrawsPerBlock` to a block, in the order of the
// columns.
template <class V>
SVMF_INLINE void normals(const PhiloxBlock<WordOf<V>>& block,
                         V (&out)[kDrawsPerBlock<ScalarOf<V>>]) {
  for (int i = 0; i < kDrawsPerBlock<ScalarOf<V>>; i += 2) {
    const V log_u = log_normal_number(open_uniform<V>(block, i));
    // u = 1 can round to a logarithm above zero only by the sign of zero.
    const V radius = square_root(absolute(log_u + log_u));
    V sine, cosine;
    sine_cosine_turns(uniform_turns<V>(block, i + 1), &sine, &cosine);
    out[i] = radius * cosine;
    out[i + 1] = radius * sine;
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
