// SPDX-License-Identifier: MIT
// log Gamma(v+1) of the host, rounded once: the library's own is not the same everywhere, and sets
// a global sign that threads share.
//
// With f = v - 1 - n, |f| <= 1/2,
//     log Gamma(v+1) = log Gamma(2+f) + log((2+f) (3+f) ... (v)),     n >= 0,
//     log Gamma(v+1) = log Gamma(2+f) - log(1+f),                      n = -1.
// Taylor's series at 2 (DLMF 5.7.3) has no constant term, so the zeros at v = 0 and v = 1 keep
// their digits:
//     log Gamma(2+f) = (1-gamma) f + sum_(k>=2) (-1)^k (zeta(k)-1)/k f^k.
#pragma once

#include <iterator>

#include "math/two_doubles.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace log_gamma_detail {

// The coefficients of f, ..., f^4 in two doubles, then those of f^5, ... in one: f^5 times its own is
// below 2^-9 of the sum.
inline constexpr double kFirst[][2] = {{0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58},
                                       {0x1.4a34cc4a60fa6p-2, 0x1.1873d8912200cp-56},
                                       {-0x1.13e001a557607p-4, 0x1.fb68be2f8821fp-58},
                                       {0x1.51322ac7d8483p-6, 0x1.afc89088cb729p-60}};
inline constexpr double kFromFifth[] = {
    -0x1.e404fc218f5f2p-8,  0x1.7add6eadb6c3p-9,   -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11,
    -0x1.d3fd4c76d2fc8p-13, 0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16,
    -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19, 0x1.0064cdeb22f0fp-20,
    -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23, -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25,
    -0x1.862c734df3eacp-26, 0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29,
    -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31, -0x1.2f69a9fabe3ep-32,  0x1.24932a337434cp-33,
    -0x1.1a7c26ec2523cp-34, 0x1.11116e693ed98p-35, -0x1.08424cbc543d8p-36};

// log x from 2 atanh t, t = (x'-1)/(x'+1), where x = 2^exponent x' and x' is next to 1. x - 1 is
// given by itself: it may have more digits than x.
inline TwoDoubles log_near_one(TwoDoubles minus_one) {
  const TwoDoubles t = minus_one / (minus_one + 2);
  const TwoDoubles square = t * t;
  double tail = 0;
  for (int k = 29; k >= 5; k -= 2) tail = tail * square.high + 1.0 / k;
  const TwoDoubles third = TwoDoubles::of_sum(0x1.5555555555555p-2, 0x1.5555555555555p-56);
  return 2 * t * (1 + square * (third + square * tail));
}

inline TwoDoubles log_two_doubles(TwoDoubles x) {
  int exponent = 0;
  if (std::frexp(x.high, &exponent) < 0x1.6a09e667f3bcdp-1) --exponent;
  const double scale = std::ldexp(1.0, -exponent);
  const TwoDoubles ln2 = TwoDoubles::of_sum(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
  return ln2 * exponent + log_near_one(x * scale - 1);
}

}  // namespace log_gamma_detail

// 0 <= v <= 170, or nan.
inline double log_gamma_one_plus(double v) {
  namespace detail = log_gamma_detail;
  const double n = std::nearbyint(v - 1);
  const double f = n < 0 ? v : (v - 1) - n;
  double tail = 0;
  for (int k = static_cast<int>(std::size(detail::kFromFifth)) - 1; k >= 0; --k)
    tail = tail * f + detail::kFromFifth[k];
  TwoDoubles at_two = TwoDoubles(f) * tail;
  for (int k = static_cast<int>(std::size(detail::kFirst)) - 1; k >= 0; --k)
    at_two = f * (TwoDoubles::of_sum(detail::kFirst[k][0], detail::kFirst[k][1]) + at_two);
  if (n < 0) return static_cast<double>(at_two - detail::log_near_one(f));
  TwoDoubles product = 1;
  for (double factor = 2; factor < n + 2; ++factor) product = product * (TwoDoubles(f) + factor);
  return static_cast<double>(at_two + detail::log_two_doubles(product));
}

}  // namespace SVMF_ISA
}  // namespace svmf
