// SPDX-License-Identifier: MIT
// Gauss quadrature for
//     int_0^1 u^nu f(u) du,   nu = (m-1)/2,
// where f may have a square root at u = 0 only through u^nu. With u = xi^2 it is
//     2 int_0^1 xi^m f(xi^2) dxi,
// whose nodes are the zeros of the Jacobi polynomial P_n^(0, m). Host only, in a number with more
// digits than a double, so that nodes and weights are rounded once.
#pragma once

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "math/two_doubles.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr int kMaxGaussNodes = 38;

// What x86 has in hardware. On macOS and Windows long double is a double, on ARM's Linux software.
using GaussNumber = std::conditional_t<LDBL_MANT_DIG == 64, long double, TwoDoubles>;

// P_i^(0, m) by P_i = (slope_i x + constant_i) P_(i-1) - last_i P_(i-2) (DLMF 18.9.2).
template <class Number>
class JacobiPolynomials {
 public:
  JacobiPolynomials(int n, int64_t m) : n_(n), m_(static_cast<double>(m)) {
    for (int i = 1; i <= n; ++i) {
      const Number c = 2 * i + m_;
      const Number denominator = 2 * i * (i + m_) * (c - 2);
      slope_[i] = (c - 1) * c * (c - 2) / denominator;
      constant_[i] = -(c - 1) * m_ * m_ / denominator;
      last_[i] = 2 * (i - 1) * (i + m_ - 1) * c / denominator;
    }
  }

  // How many zeros of P_n lie above x: the changes of sign in P_0(x), ..., P_n(x) (Sturm).
  int zeros_above(Number x) const {
    Number p0 = 0, p1 = 1;
    int changes = 0;
    for (int i = 1; i <= n_; ++i) {
      const Number p2 = (slope_[i] * x + constant_[i]) * p1 - last_[i] * p0;
      changes += (p2 < 0) != (p1 < 0);
      p0 = p1;
      p1 = p2;
    }
    return changes;
  }

  // P_n(x) and its derivative, |x| < 1 (DLMF 18.9.17).
  Number value(Number x, Number* derivative) const {
    Number p0 = 0, p1 = 1;
    for (int i = 1; i <= n_; ++i) {
      const Number p2 = (slope_[i] * x + constant_[i]) * p1 - last_[i] * p0;
      p0 = p1;
      p1 = p2;
    }
    const Number c = 2 * n_ + m_;
    *derivative = (2 * n_ * (n_ + m_) * p0 - n_ * (m_ + c * x) * p1) / (c * (1 - x * x));
    return p1;
  }

 private:
  int n_;
  Number m_;
  Number slope_[kMaxGaussNodes + 1], constant_[kMaxGaussNodes + 1], last_[kMaxGaussNodes + 1];
};

// The n nodes u_i and their weights: bisection, then Newton's method.
template <class Number = GaussNumber>
void gauss_jacobi(int n, int64_t m, double* u, double* weight) {
  const JacobiPolynomials<Number> P(n, m);
  Number high = 1;
  for (int i = 0; i < n; ++i) {
    Number low = -1;
    for (int step = 0; step < 20; ++step) {
      const Number x = (low + high) / 2;
      (P.zeros_above(x) > i ? low : high) = x;
    }
    Number x = (low + high) / 2, derivative;
    for (int step = 0; step < 4; ++step) {
      const Number value = P.value(x, &derivative);
      x = x - value / derivative;
    }
    P.value(x, &derivative);
    const Number xi = (1 + x) / 2;
    u[i] = static_cast<double>(xi * xi);
    // On (-1, 1) the weight is 2^(m+1)/((1-x^2) P'^2); the map to (0, 1) takes the power of two
    // away, du brings a 2.
    weight[i] = static_cast<double>(2 / ((1 - x * x) * derivative * derivative));
  }
}

}  // namespace SVMF_ISA
}  // namespace svmf
