// SPDX-License-Identifier: MIT
// Makes the tables of the pathwise derivative for one m, on the host: quadrature nodes for double,
// and for float the polynomials of pathwise_fit.h, interpolated in double precision. A table takes
// 0.05 to 2 ms to make and is kept.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>

#include "math/pathwise_fit.h"
#include "math/pathwise_quadrature.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace pathwise {

// The fit covers w where the density is above e^-kFitDepth of its mode.
inline constexpr double kFitDepth = 43;
// Sum of the Chebyshev coefficients that are left out of a piece, relative to R >= 0.9: 1 eps of
// float; the true error is about a third of it.
inline constexpr double kFitTolerance = 0x1p-23;
inline constexpr double kFitShift = 14;  // c - nu
inline constexpr int kFitRows = 12;
inline constexpr int kFitColumns = kMaxFitColumns;

// The eps (right tail) or 1 - eps (left tail) where ((1-w^2)^nu e^(kappa w)) has fallen by
// e^-kFitDepth from its maximum, at eps = 1/2.
inline double tail_end(double nu, double kappa, bool left) {
  const double s = std::hypot(nu, kappa), b = nu / (s + kappa);
  double low = -60, high = std::log(0.5);
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2, near = std::exp(middle);
    const double eps = left ? 1 - near : near, rest = left ? near : 1 - near;
    const double x = kappa * (rest - eps) / ((s + kappa + nu) * (rest + b * eps));
    const double fall = nu * std::log(4 * eps * rest) + 2 * nu * (x + std::log1p(-x));
    (fall > -kFitDepth ? high : low) = middle;
  }
  return std::exp(high);
}

// The range of z in one piece.
struct FitRange {
  double low, high;
};

inline FitRange fit_range(double nu, double c, int piece) {
  FitRange range{1, 0};
  for (int i = 0; i <= 4; ++i) {
    const double P = std::max(1e-6, 1 - (piece + i * 0.25) / kFitPieces);
    const double kappa = c * (1 - P) / (2 * P);
    const double b = nu / (std::hypot(nu, kappa) + kappa);
    const double right = tail_end(nu, kappa, false), left = tail_end(nu, kappa, true);
    range.low = std::min(range.low, P * b * right / (P * b * right + (1 - right)));
    range.high = std::max(range.high, P * b * (1 - left) / (P * b * (1 - left) + left));
  }
  if (range.low < 1e-3) range.low = 0;
  if (range.high > 0.999) range.high = 1;
  return range;
}

// Chebyshev coefficients from values at the n Chebyshev points cos(pi (i + 1/2)/n), with strides.
inline void chebyshev_transform(double* values, int n, int stride) {
  double result[kFitColumns];
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i * stride] * std::cos(M_PI * k * (i + 0.5) / n);
    result[k] = sum * (k == 0 ? 1.0 : 2.0) / n;
  }
  for (int k = 0; k < n; ++k) values[k * stride] = result[k];
}

// Powers from Chebyshev coefficients, in place, with strides.
inline void chebyshev_to_powers(double* c, int n, int stride) {
  // Clenshaw's recurrence, applied to polynomials.
  double next[kFitColumns] = {}, after[kFitColumns] = {};
  for (int k = n - 1; k >= 0; --k) {
    double now[kFitColumns] = {};
    const double factor = k == 0 ? 1 : 2;
    for (int i = 0; i + 1 < n; ++i) now[i + 1] = factor * next[i];
    for (int i = 0; i < n; ++i) now[i] -= after[i];
    now[0] += c[k * stride];
    std::copy(next, next + n, after);
    std::copy(now, now + n, next);
  }
  for (int i = 0; i < n; ++i) c[i * stride] = next[i];
}

// Coefficients of one piece: [power of t][power of x], first of Chebyshev polynomials.
using FitPiece = double[kFitRows][kFitColumns];

class FitBuilder {
 public:
  explicit FitBuilder(int64_t m)
      : vmf_(make_vmf_table<double>(m)), quadrature_(make_quadrature(m)) {
    table_.nu = static_cast<float>(vmf_.nu);
    table_.c = static_cast<float>(vmf_.nu + kFitShift);
    for (int piece = 0; piece < kFitPieces; ++piece) interpolate(piece);
    choose_shape();
    for (int piece = 0; piece < kFitPieces; ++piece) write(piece);
  }
  const PathwiseTable<float>& table() const { return table_; }

 private:
  void interpolate(int piece) {
    const double nu = vmf_.nu, c = table_.c;
    const FitRange range = fit_range(nu, c, piece);
    const double scale = 2 / (range.high - range.low), center = (range.low + range.high) / 2;
    table_.weight_below[piece] = static_cast<float>((1 - center) * scale);
    table_.weight_above[piece] = static_cast<float>(center * scale);
    // What the rounded weights mean: x = below z - above (1-z).
    const double below = table_.weight_below[piece], above = table_.weight_above[piece];
    for (int i = 0; i < kFitRows; ++i) {
      const double P = 1 - (piece + 0.5 + 0.5 * std::cos(M_PI * (i + 0.5) / kFitRows)) / kFitPieces;
      const double kappa = c * (1 - P) / (2 * P);
      for (int j = 0; j < kFitColumns; ++j) {
        const double x = std::cos(M_PI * (j + 0.5) / kFitColumns);
        const double z = (x + above) / (below + above), rest = (below - x) / (below + above);
        const double sum = z + P * rest;
        const double one_minus_w = 2 * z / sum, one_plus_w = 2 * P * rest / sum;
        piece_[piece][i][j] = precise(one_minus_w, one_plus_w, kappa, vmf_, quadrature_) *
                              (nu * (1 + P) + kappa * one_plus_w);
      }
    }
    for (int i = 0; i < kFitRows; ++i) chebyshev_transform(piece_[piece][i], kFitColumns, 1);
    for (int j = 0; j < kFitColumns; ++j)
      chebyshev_transform(&piece_[piece][0][j], kFitRows, kFitColumns);
  }

  // Keeps (i, j) where it, or one further out, is large in some piece: the kept set is a staircase.
  void choose_shape() {
    double largest[kFitRows + 1][kFitColumns + 1] = {};
    for (int i = kFitRows - 1; i >= 0; --i) {
      for (int j = kFitColumns - 1; j >= 0; --j) {
        double x = std::max(largest[i + 1][j], largest[i][j + 1]);
        for (const FitPiece& piece : piece_) x = std::max(x, std::fabs(piece[i][j]));
        largest[i][j] = x;
      }
    }
    double threshold = kFitTolerance;
    while (left_out(largest, threshold) > kFitTolerance) threshold *= 0.9;
    table_.columns = 0;
    while (table_.columns < kFitColumns && largest[0][table_.columns] >= threshold) {
      int& rows = table_.rows[table_.columns];
      rows = 0;
      while (rows < kFitRows && largest[rows][table_.columns] >= threshold) ++rows;
      ++table_.columns;
    }
    int start = 0;
    for (int j = table_.columns - 1; j >= 0; --j) {
      table_.start[j] = start;
      start += table_.rows[j];
    }
    assert(start <= kMaxFitCoefficients);
  }

  double left_out(const double (&largest)[kFitRows + 1][kFitColumns + 1], double threshold) const {
    double most = 0;
    for (const FitPiece& piece : piece_) {
      double sum = 0;
      for (int i = 0; i < kFitRows; ++i) {
        for (int j = 0; j < kFitColumns; ++j)
          sum += largest[i][j] < threshold ? std::fabs(piece[i][j]) : 0;
      }
      most = std::max(most, sum);
    }
    return most;
  }

  void write(int index) {
    FitPiece& piece = piece_[index];
    // The last columns may be negligible in this piece.
    int columns = table_.columns;
    double sum = 0;
    for (; columns > 1; --columns) {
      for (int i = 0; i < table_.rows[columns - 1]; ++i) sum += std::fabs(piece[i][columns - 1]);
      if (sum > kFitTolerance / 4) break;
    }
    table_.columns_of_piece[index] = columns;
    for (int j = 0; j < kFitColumns; ++j) {
      for (int i = j < columns ? table_.rows[j] : 0; i < kFitRows; ++i) piece[i][j] = 0;
    }
    for (int i = 0; i < kFitRows; ++i) chebyshev_to_powers(piece[i], kFitColumns, 1);
    for (int j = 0; j < kFitColumns; ++j) chebyshev_to_powers(&piece[0][j], kFitRows, kFitColumns);
    for (int j = 0; j < table_.columns; ++j) {
      const int rows = table_.rows[j];
      // t is half of the variable in [-1, 1].
      for (int i = 0; i < rows; ++i) {
        table_.coefficient[table_.start[j] + rows - 1 - i][index] =
            static_cast<float>(std::ldexp(piece[i][j], i));
      }
    }
  }

  VmfTable<double> vmf_;
  PathwiseTable<double> quadrature_;
  PathwiseTable<float> table_{};
  FitPiece piece_[kFitPieces];
};

inline void make_table(int64_t m, PathwiseTable<double>* table) { *table = make_quadrature(m); }
inline void make_table(int64_t m, PathwiseTable<float>* table) { *table = FitBuilder(m).table(); }

}  // namespace pathwise

// The table of the sphere in R^m, m >= 2. The last few are kept; safe to call from many threads.
template <class Scalar>
inline PathwiseTable<Scalar> make_pathwise_table(int64_t m) {
  struct Kept {
    int64_t m = 0;
    PathwiseTable<Scalar> table;
  };
  constexpr int kKept = 16;
  static std::mutex mutex;
  static Kept kept[kKept];
  const std::lock_guard<std::mutex> lock(mutex);
  Kept& entry = kept[m % kKept];
  if (entry.m != m) {
    pathwise::make_table(m, &entry.table);
    entry.m = m;
  }
  return entry.table;
}

}  // namespace SVMF_ISA
}  // namespace svmf
