// SPDX-License-Identifier: MIT
// exp, log, log1p and sine/cosine of turns for every lane type: the same operations in the same
// order on every instruction set and on the device, so that results differ at most where fma is
// missing. Errors below are maxima over random and edge arguments, enforced by
// tests/math/test_elementary.py.
#pragma once

#include "math/elementary_coefficients.h"
#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace elementary {

// ln 2 split so that n * kHigh is exact for the exponents that occur.
template <class Scalar>
struct Ln2;
template <>
struct Ln2<float> {
  static constexpr float kHigh = 0x1.62e4p-1f;
  static constexpr float kLow = 0x1.7f7d1cp-20f;
};
template <>
struct Ln2<double> {
  static constexpr double kHigh = 0x1.62e42fefa3800p-1;
  static constexpr double kLow = 0x1.ef35793c76730p-45;
};

// From bit 1 (a half turn) to the sign bit.
template <class Scalar>
inline constexpr int kHalfTurnToSign = 8 * static_cast<int>(sizeof(Scalar)) - 2;

}  // namespace elementary

// e^x. Error 1.1 ulp; x = -inf -> 0, +inf -> inf, nan -> nan. Results below the normal range are
// rounded to zero or a subnormal.
template <class V>
SVMF_INLINE V exponential(V x) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  constexpr int kBits = Format<S>::kFractionBits;
  // Adding 1.5 * 2^fraction rounds to an integer and leaves it in the low bits.
  constexpr S kRound = static_cast<S>(int64_t(3) << (kBits - 1));
  constexpr S kLimit = sizeof(S) == 4 ? S(104) : S(746);
  // nan passes both comparisons unharmed: select takes the second argument.
  const V clamped = select(x > V(kLimit), V(kLimit), select(x < V(-kLimit), V(-kLimit), x));
  const V shifted = mul_add(clamped, V(S(1.44269504088896340736)), V(kRound));
  const V n = shifted - V(kRound);
  const V r =
      mul_add(n, V(-elementary::Ln2<S>::kLow), mul_add(n, V(-elementary::Ln2<S>::kHigh), clamped));
  const V tail = mul_add(r * r, polynomial<elementary::Exp<S>>(r), r);
  const V e = V(1) + tail;
  // 2^n in two factors, so that neither leaves the exponent range.
  const V half_shifted = mul_add(n, V(S(0.5)), V(kRound));
  const V half_n = half_shifted - V(kRound);
  const V rest_shifted = (n - half_n) + V(kRound);
  const I one = I(to_bits(S(1)));
  const V scale1 = from_bits(add_bits(one, shift_left(to_bits(half_shifted), kBits)));
  const V scale2 = from_bits(add_bits(one, shift_left(to_bits(rest_shifted), kBits)));
  return e * scale1 * scale2;
}

// e^x and e^x - 1 together for x <= 1, both to 1.3 ulp; x below -87 (float) or -708 (double)
// counts as that.
template <class V>
SVMF_INLINE void exponential_pair(V x, V* exponential_value, V* minus_one) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  constexpr int kBits = Format<S>::kFractionBits;
  constexpr S kRound = static_cast<S>(int64_t(3) << (kBits - 1));
  constexpr S kLimit = sizeof(S) == 4 ? S(87) : S(708);
  const V clamped = select(x < V(-kLimit), V(-kLimit), x);
  const V shifted = mul_add(clamped, V(S(1.44269504088896340736)), V(kRound));
  const V n = shifted - V(kRound);
  const V r =
      mul_add(n, V(-elementary::Ln2<S>::kLow), mul_add(n, V(-elementary::Ln2<S>::kHigh), clamped));
  const V tail = mul_add(r * r, polynomial<elementary::Exp<S>>(r), r);
  const V scale = from_bits(add_bits(I(to_bits(S(1))), shift_left(to_bits(shifted), kBits)));
  *exponential_value = mul_add(scale, tail, scale);
  *minus_one = mul_add(scale, tail, scale - V(1));
}

// For u > 0 finite and normal and |correction| below an ulp or so of u:
//     u + correction = 2^k (1+f),   1+f in [sqrt(1/2), sqrt(2)),
//     log(1+f) = f - half_square + rest,   from 2 artanh(f/(2+f)).
template <class V>
struct ReducedLog {
  V k, f, half_square, rest;
};

template <class V>
SVMF_INLINE ReducedLog<V> reduce_log(V u, V correction) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  using Bits = typename Format<S>::Bits;
  constexpr int kBits = Format<S>::kFractionBits;
  constexpr Bits kOne = Bits(Format<S>::kBias) << kBits;
  constexpr Bits kSqrtHalf = sizeof(S) == 4 ? Bits(0x3f3504f3) : Bits(0x3fe6a09e667f3bcdLL);
  const I bits = to_bits(u);
  const I biased = shift_right(add_bits(bits, I(kOne - kSqrtHalf)), kBits);              // k + bias
  const V scale = from_bits(shift_left(I(Bits(2 * Format<S>::kBias)) - biased, kBits));  // 2^-k
  const V f = mul_add(correction, scale, u * scale - V(1));
  // k as a number: put it under the bits of 2^fraction.
  constexpr S kLarge = static_cast<S>(Bits(1) << kBits);
  const V k = from_bits(biased | I(to_bits(kLarge))) - V(kLarge + static_cast<S>(Format<S>::kBias));
  const V s = f / (V(2) + f);
  const V z = s * s;
  const V half_square = V(S(0.5)) * f * f;
  return {k, f, half_square, s * mul_add(z, polynomial<elementary::Log<S>>(z), half_square)};
}

// log(u + correction) under the same conditions; the largest term is exact.
template <class V>
SVMF_INLINE V log_reduced(V u, V correction) {
  using S = ScalarOf<V>;
  const ReducedLog<V> r = reduce_log(u, correction);
  const V low = mul_add(r.k, V(elementary::Ln2<S>::kLow), r.rest);
  return mul_add(r.k, V(elementary::Ln2<S>::kHigh), r.f - (r.half_square - low));
}

// log(x + correction), |correction| below an ulp or so of x. Error 1 ulp; 0 -> -inf, negative or
// nan -> nan, inf -> inf; subnormals are exact to the same error.
template <class V>
SVMF_INLINE V logarithm(V x, V correction) {
  using S = ScalarOf<V>;
  constexpr int kBits = Format<S>::kFractionBits;
  constexpr S kTiny = sizeof(S) == 4 ? S(0x1p-126) : S(0x1p-1022);
  if (all((x >= V(kTiny)) & (x < infinity<V>()))) return log_reduced(x, correction);
  const auto subnormal = x < V(kTiny);
  const V scale = select(subnormal, V(static_cast<S>(int64_t(1) << kBits)), V(1));
  const V regular = log_reduced(x * scale, correction * scale) -
                    select(subnormal, V(static_cast<S>(kBits * 0.693147180559945309417)), V(0));
  const V positive =
      select(x == V(0), -infinity<V>(), select(x < V(0), not_a_number<V>(), regular));
  return select(x == infinity<V>(), x, select(x != x, x, positive));
}

// log x, to the same error.
template <class V>
SVMF_INLINE V logarithm(V x) {
  return logarithm(x, V(0));
}

// log(1 + x), x >= 0 (or x > -1/2). Error 1.5 ulp; inf -> inf, nan -> nan; x < -1/2 is outside the
// domain.
template <class V>
SVMF_INLINE V log1p_positive(V x) {
  const V u = V(1) + x;
  // What the addition lost; exact in both cases (Dekker's two-sum with known order).
  const V lost = select(x > V(1), V(1) - (u - x), x - (u - V(1)));
  const V y = log_reduced(u, lost);
  return select(x == infinity<V>(), x, select(x != x, x, y));
}

// For u > 0 finite and normal
//     u = 2^k (1+f),   1+f in [sqrt(1/2), sqrt(2)),
// and log(1+f) - f without a division, float only. Both sampler and normal numbers live on it.
template <class V>
struct QuickLog {
  V k, f;
};
template <class V>
SVMF_INLINE QuickLog<V> reduce_quickly(V u) {
  using I = IntOf<V>;
  constexpr int32_t kOne = 127 << 23, kSqrtHalf = 0x3f3504f3;
  const I biased = shift_right(add_bits(to_bits(u), I(kOne - kSqrtHalf)), 23);
  const V f = from_bits(to_bits(u) - shift_left(biased, 23) + I(kOne)) - V(1);
  return {from_bits(biased | I(to_bits(0x1p23f))) - V(0x1p23f + 127.0f), f};
}
// Coefficients in pairs (Estrin): half as long a chain as Horner's.
template <class V>
SVMF_INLINE V tail_of_log(V f) {
  using P = elementary::LogTail<ScalarOf<V>>;
  static_assert(P::kCount == 7);
  const V f2 = f * f;
  const V c01 = mul_add(f, V(P::at(0)), V(-0.5f)), c23 = mul_add(f, V(P::at(2)), V(P::at(1)));
  const V c45 = mul_add(f, V(P::at(4)), V(P::at(3))), c67 = mul_add(f, V(P::at(6)), V(P::at(5)));
  const V low = mul_add(f2, c23, c01), high = mul_add(f2, c67, c45);
  return f2 * mul_add(f2 * f2, high, low);
}

// log u for u > 0 finite and normal: no special cases. Error 2 ulp.
template <class V>
SVMF_INLINE V log_normal_number(V u) {
  using S = ScalarOf<V>;
  if constexpr (sizeof(S) == 8) {
    return log_reduced(u, V(0));
  } else {
    const QuickLog<V> r = reduce_quickly(u);
    return mul_add(r.k, V(S(0.693147180559945309417)), r.f + tail_of_log(r.f));
  }
}

// log(1 + x) - x for x > -1/2, with full relative precision also for small x, where the difference
// is -x^2/2: there k = 0 and f = x exactly. Error 3 ulp (double) or 13 ulp (float, no division) for
// x in [-0.29, 0.41], 18 or 24 ulp beyond.
template <class V>
SVMF_INLINE V log1p_minus_argument(V x) {
  using S = ScalarOf<V>;
  const V u = V(1) + x;
  if constexpr (sizeof(S) == 4) {
    const QuickLog<V> r = reduce_quickly(u);
    const V f = select(r.k == V(0), x, r.f);
    return mul_add(r.k, V(S(0.693147180559945309417)), (f - x) + tail_of_log(f));
  } else {
    const V lost = select(x > V(1), V(1) - (u - x), x - (u - V(1)));
    const ReducedLog<V> r = reduce_log(u, lost);
    const V low = mul_add(r.k, V(elementary::Ln2<S>::kLow), r.rest);
    return mul_add(r.k, V(elementary::Ln2<S>::kHigh), (r.f - x) - (r.half_square - low));
  }
}

// sin and cos of 2 pi turns for turns in [-1/2, 1/2]. Error 1 ulp of 1.
template <class V>
SVMF_INLINE void sine_cosine_turns(V turns, V* sine, V* cosine) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  constexpr int kBits = Format<S>::kFractionBits;
  constexpr S kRound = static_cast<S>(int64_t(3) << (kBits - 1));
  const V shifted = mul_add(turns, V(4), V(kRound));  // the nearest quarter turn, in the low bits
  const V r = mul_add(shifted - V(kRound), V(S(-0.25)), turns);  // exact
  const I quarter = to_bits(shifted);
  const V z = r * r;
  const V s = r * polynomial<elementary::SineTurns<S>>(z);
  const V c = mul_add(z, polynomial<elementary::CosineTurns<S>>(z), V(1));
  const auto straight = (quarter & I(1)) == I(0);
  const I sine_sign = shift_left(quarter & I(2), elementary::kHalfTurnToSign<S>);
  const I cosine_sign = shift_left((quarter + I(1)) & I(2), elementary::kHalfTurnToSign<S>);
  *sine = from_bits(to_bits(select(straight, s, c)) ^ sine_sign);
  *cosine = from_bits(to_bits(select(straight, c, s)) ^ cosine_sign);
}

}  // namespace SVMF_ISA
}  // namespace svmf
