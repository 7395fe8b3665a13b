// SPDX-License-Identifier: MIT
// Makes the tables of the pathwise derivative for one m, on the host: quadrature nodes for double,
// and for float the polynomials of pathwise_fit.h, by Chebyshev interpolation of the double
// precision derivative. The tables in use are kept: csrc/common/pathwise_tables.h.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>

#include "math/chebyshev.h"
#include "math/pathwise_fit.h"
#include "math/pathwise_quadrature.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace pathwise {

// The fit covers w where the density is above e^-kFitDepth of its value at the mode of Wood's
// proposal.
inline constexpr double kFitDepth = 43;
// The sum of the Chebyshev coefficients that a piece leaves out: 1 eps of float. The error itself
// is about a third.
inline constexpr double kFitTolerance = 0x1p-23;
inline constexpr double kFitShift = 14;  // c - nu; the number of coefficients hardly depends on it
inline constexpr int kMaxFitRows = 12;

// The points of the interpolation: a few more than the coefficients that turn out to be needed.
inline int fit_grid_rows(int64_t m) { return m < 6 ? kMaxFitRows : 9; }
inline int fit_grid_columns(int64_t m) {
  const double count = 6 + std::ceil(24 / std::sqrt(static_cast<double>(m - 1)));
  return count < kMaxFitColumns ? static_cast<int>(count) : kMaxFitColumns;
}

// The eps (right tail) or 1 - eps (left tail) of Wood's proposal where the density has fallen by
// e^-kFitDepth.
inline double tail_end(double nu, double kappa, bool left) {
  const double s = std::hypot(nu, kappa), b = nu / (s + kappa);
  const double power = std::max(
      nu - 1, 0.0);  // the circle's density has poles; its tails count as those of the sphere
  double low = -60, high = std::log(0.5);
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2, near = std::exp(middle);
    const double eps = left ? 1 - near : near, rest = left ? near : 1 - near;
    const double D = rest + b * eps;
    const double shift = 2 * nu * kappa * (rest - eps) / ((s + kappa + nu) * D);  // kappa (w - w0)
    const double fall =
        power * (std::log(4 * eps * rest) + 2 * std::log((1 + b) / (2 * D))) + shift;
    (fall > -kFitDepth ? high : low) = middle;
  }
  return std::exp(high);
}

// The range of z in one piece, taken to the pole where it comes near it.
struct FitRange {
  double low, high;
};

inline FitRange fit_range(double nu, double c, int piece) {
  FitRange range{1, 0};
  for (int i = 0; i <= 4; ++i) {
    const double P = std::max(1e-6, 1 - (piece + i * 0.25) / kFitPieces);
    const double kappa = c * (1 - P) / (2 * P);
    const double scale = P * nu / (std::hypot(nu, kappa) + kappa);
    const double right = tail_end(nu, kappa, false), left = tail_end(nu, kappa, true);
    range.low = std::min(range.low, scale * right / (scale * right + (1 - right)));
    range.high = std::max(range.high, scale * (1 - left) / (scale * (1 - left) + left));
  }
  if (range.low < 1e-3) range.low = 0;
  if (range.high > 0.999) range.high = 1;
  return range;
}

class FitBuilder {
 public:
  explicit FitBuilder(int64_t m)
      : grid_rows_(fit_grid_rows(m)),
        grid_columns_(fit_grid_columns(m)),
        vmf_(make_vmf_table<double>(m)),
        quadrature_(make_quadrature(m)) {
    table_.nu = static_cast<float>(vmf_.nu);
    table_.c = static_cast<float>(vmf_.nu + kFitShift);
    for (int piece = 0; piece < kFitPieces; ++piece) interpolate(piece);
    choose_shape();
    for (int piece = 0; piece < kFitPieces; ++piece) write(piece);
  }
  const PathwiseTable<float>& table() const { return table_; }

 private:
  // Coefficients of one piece: [power of t][power of x].
  using Piece = double[kMaxFitRows][kMaxFitColumns];

  void interpolate(int index) {
    const double nu = vmf_.nu, c = table_.c;
    const FitRange range = fit_range(nu, c, index);
    const double scale = 2 / (range.high - range.low), center = (range.low + range.high) / 2;
    table_.weight_below[index] = static_cast<float>((1 - center) * scale);
    table_.weight_above[index] = static_cast<float>(center * scale);
    // The rounded weights: x = below z - above (1-z).
    const double below = table_.weight_below[index], above = table_.weight_above[index];
    Piece& piece = pieces_[index];
    for (int i = 0; i < grid_rows_; ++i) {
      const double P = 1 - (index + 0.5 + 0.5 * chebyshev_point(i, grid_rows_)) / kFitPieces;
      const double kappa = c * (1 - P) / (2 * P);
      for (int j = 0; j < grid_columns_; ++j) {
        const double x = chebyshev_point(j, grid_columns_);
        const double z = (x + above) / (below + above), rest = (below - x) / (below + above);
        const double one_minus_w = 2 * z / (z + P * rest),
                     one_plus_w = 2 * P * rest / (z + P * rest);
        const double slope = precise(one_minus_w, one_plus_w, kappa, vmf_, quadrature_);
        piece[i][j] = slope * (nu * (1 + P) + kappa * one_plus_w);
      }
    }
    for (int i = 0; i < grid_rows_; ++i) values_to_chebyshev(piece[i], grid_columns_, 1);
    for (int j = 0; j < grid_columns_; ++j)
      values_to_chebyshev(&piece[0][j], grid_rows_, kMaxFitColumns);
  }

  // Keeps (i, j) where it, or one further out, is large in some piece: the kept set is a staircase.
  void choose_shape() {
    double largest[kMaxFitRows + 1][kMaxFitColumns + 1] = {};
    for (int i = grid_rows_ - 1; i >= 0; --i) {
      for (int j = grid_columns_ - 1; j >= 0; --j) {
        double x = std::max(largest[i + 1][j], largest[i][j + 1]);
        for (const Piece& piece : pieces_) x = std::max(x, std::fabs(piece[i][j]));
        largest[i][j] = x;
      }
    }
    double threshold = kFitTolerance;
    while (left_out(largest, threshold) > kFitTolerance) threshold *= 0.9;
    int& columns = table_.columns;
    for (columns = 0; columns < grid_columns_ && largest[0][columns] >= threshold; ++columns) {
      int& rows = table_.rows[columns];
      for (rows = 0; rows < grid_rows_ && largest[rows][columns] >= threshold;) ++rows;
    }
    int start = 0;
    for (int j = columns - 1; j >= 0; --j) {
      table_.start[j] = start;
      start += table_.rows[j];
    }
    assert(start <= kMaxFitCoefficients);
  }

  double left_out(const double (&largest)[kMaxFitRows + 1][kMaxFitColumns + 1],
                  double threshold) const {
    double most = 0;
    for (const Piece& piece : pieces_) {
      double sum = 0;
      for (int i = 0; i < grid_rows_; ++i) {
        for (int j = 0; j < grid_columns_; ++j) {
          if (largest[i][j] < threshold) sum += std::fabs(piece[i][j]);
        }
      }
      most = std::max(most, sum);
    }
    return most;
  }

  void write(int index) {
    Piece& piece = pieces_[index];
    // The last columns may be negligible in this piece.
    int columns = table_.columns;
    double sum = 0;
    for (; columns > 1; --columns) {
      for (int i = 0; i < table_.rows[columns - 1]; ++i) sum += std::fabs(piece[i][columns - 1]);
      if (sum > kFitTolerance / 4) break;
    }
    table_.columns_of_piece[index] = columns;
    for (int j = 0; j < grid_columns_; ++j) {
      for (int i = j < columns ? table_.rows[j] : 0; i < grid_rows_; ++i) piece[i][j] = 0;
    }
    for (int i = 0; i < grid_rows_; ++i) chebyshev_to_powers(piece[i], grid_columns_, 1);
    for (int j = 0; j < table_.columns; ++j) {
      chebyshev_to_powers(&piece[0][j], grid_rows_, kMaxFitColumns);
      const int rows = table_.rows[j];
      for (int i = 0; i < rows; ++i) {
        // t is half of the variable in [-1, 1].
        const double coefficient = std::ldexp(piece[i][j], i);
        table_.coefficient[table_.start[j] + rows - 1 - i][index] = static_cast<float>(coefficient);
      }
    }
  }

  int grid_rows_, grid_columns_;
  VmfTable<double> vmf_;
  PathwiseTable<double> quadrature_;
  PathwiseTable<float> table_{};
  Piece pieces_[kFitPieces] = {};
};

}  // namespace pathwise

// The table of the sphere in R^m, m >= 2.
template <class Scalar>
inline PathwiseTable<Scalar> make_pathwise_table(int64_t m) {
  if constexpr (sizeof(Scalar) == 4)
    return pathwise::FitBuilder(m).table();
  else
    return pathwise::make_quadrature(m);
}

}  // namespace SVMF_ISA
}  // namespace svmf
