// SPDX-License-Identifier: MIT
// Chebyshev interpolation on the host: from values at the Chebyshev points to coefficients, and
// from those to powers. Both work in place on every `stride`-th of n numbers, so that they serve
// rows and columns of a grid alike.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/host_device.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kMaxChebyshev = 22;

// Point i of n, descending from 1 to -1.
inline double chebyshev_point(int i, int n) {
  return std::cos(3.14159265358979323846 * (i + 0.5) / n);
}

// Values at the n points become the coefficients of T_0, ..., T_(n-1).
inline void values_to_chebyshev(double* values, int n, int stride) {
  double result[kMaxChebyshev] = {};
  for (int i = 0; i < n; ++i) {
    const double x = chebyshev_point(i, n), value = values[i * stride] * 2 / n;
    double t0 = 1, t1 = x;
    for (int k = 0; k < n; ++k) {
      result[k] += value * t0;
      const double t2 = 2 * x * t1 - t0;
      t0 = t1;
      t1 = t2;
    }
  }
  result[0] /= 2;
  for (int k = 0; k < n; ++k) values[k * stride] = result[k];
}

// Coefficients of T_k become those of x^k: Clenshaw's recurrence, run on polynomials.
inline void chebyshev_to_powers(double* c, int n, int stride) {
  double next[kMaxChebyshev] = {}, after[kMaxChebyshev] = {};
  for (int k = n - 1; k >= 0; --k) {
    double now[kMaxChebyshev] = {};
    now[0] = c[k * stride];
    for (int i = 0; i + 1 < n; ++i) now[i + 1] = (k == 0 ? 1 : 2) * next[i];
    for (int i = 0; i < n; ++i) now[i] -= after[i];
    std::copy(next, next + n, after);
    std::copy(now, now + n, next);
  }
  for (int i = 0; i < n; ++i) c[i * stride] = next[i];
}

}  // namespace SVMF_ISA
}  // namespace svmf
