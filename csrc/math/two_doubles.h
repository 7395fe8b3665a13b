// SPDX-License-Identifier: MIT
// A number as the unevaluated sum of two doubles, about 105 bits (Dekker 1971): for constants that
// the host works out once and rounds once. long double would not do: it is a double on macOS and
// Windows, and in software on 64-bit ARM.
#pragma once

#include <cmath>

#include "common/host_device.h"

namespace svmf {
inline namespace SVMF_ISA {

struct TwoDoubles {
  double high = 0, low = 0;

  TwoDoubles() = default;
  TwoDoubles(double x) : high(x) {}  // NOLINT: a double is such a number
  // |large| >= |small|, or large = 0.
  static TwoDoubles of_sum(double large, double small) {
    TwoDoubles sum;
    sum.high = large + small;
    sum.low = small - (sum.high - large);
    return sum;
  }
  explicit operator double() const { return high; }

  friend bool operator<(TwoDoubles a, TwoDoubles b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  friend TwoDoubles operator-(TwoDoubles a) {
    a.high = -a.high;
    a.low = -a.low;
    return a;
  }
  friend TwoDoubles operator+(TwoDoubles a, TwoDoubles b) {
    const double sum = a.high + b.high;
    const double of_b = sum - a.high;
    const double lost = (a.high - (sum - of_b)) + (b.high - of_b);
    return of_sum(sum, lost + (a.low + b.low));
  }
  friend TwoDoubles operator-(TwoDoubles a, TwoDoubles b) { return a + -b; }
  friend TwoDoubles operator*(TwoDoubles a, TwoDoubles b) {
    const double product = a.high * b.high;
    const double lost = std::fma(a.high, b.high, -product);
    return of_sum(product, lost + (a.high * b.low + a.low * b.high));
  }
  friend TwoDoubles operator/(TwoDoubles a, TwoDoubles b) {
    const double first = a.high / b.high;
    const TwoDoubles rest = a - b * first;
    const double second = rest.high / b.high;
    const TwoDoubles rest2 = rest - b * second;
    return of_sum(first, second) + rest2.high / b.high;
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
