// SPDX-License-Identifier: MIT
// VmfTable: everything that the functions of kappa need to know about one dimension m (or one real
// nu = (m-1)/2).
//
// With s = sqrt(c^2 + kappa^2) and x = 1 - c/s = kappa^2/(s (s + c)), the smooth functions E, W and
// V of docs/math.md are
//     sum_i coefficient[function][i][piece] t^i,
//     t = x - center[piece],   piece = piece_index(x, table).
// x and not c/s: next to kappa = 0 the rounding of c/s would cost several units in E.
//
// A table is built on the host, once per call, and passed by value.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

#include "math/coefficients_large.h"
#include "math/coefficients_small.h"
#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

enum { kE = 0, kW = 1, kV = 2 };

template <class Scalar>
struct VmfTable {
  static constexpr bool kDouble = sizeof(Scalar) == 8;
  // One permute instruction picks one of 4 doubles or 8 floats per lane.
  static constexpr int kPieces = kDouble ? 4 : 8;
  static constexpr int kCoefficients =
      kDouble ? coefficients::kSmallTermsF64 : coefficients::kSmallTermsF32;

  Scalar m;                // 2 nu + 1
  Scalar nu;               // (m-1)/2
  Scalar c;                // a multiple of 1/64 for m <= 64 (its square is exact), nu beyond
  Scalar half_over_c;      // 1/(2c)
  Scalar log_surface;      // log of the area of the unit sphere in R^m
  Scalar log_surface_low;  // what rounding it lost, for m <= 64: entropy crosses zero at small m
  Scalar log_gamma;        // log Gamma(m/2)
  Scalar bessel_constant;  // nu log c - log Gamma(m/2) - c
  int terms[3];            // coefficients beyond these are zero
  Scalar edge[kPieces - 1];
  Scalar center[kPieces];
  alignas(32) Scalar coefficient[3][kCoefficients][kPieces];
};

// The piece of [0, 1] that x lies in.
template <class V, class Table>
SVMF_INLINE IntOf<V> piece_index(V x, const Table& table) {
  using S = ScalarOf<V>;
  using I = IntOf<V>;
  if constexpr (sizeof(S) == 4) {
    // Eighths: floor(8x), with the factor a little below 8 so that x = 1 and its neighbours stay in
    // the last piece. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits; nan
    // gives some valid piece.
    return to_bits(mul_add(x, V(S(7.9999)), V(S(-0.5))) + V(S(0x1.8p23))) & I(7);
  } else {
    const I zero(0), one(1);
    return select(x >= V(table.edge[0]), one, zero) + select(x >= V(table.edge[1]), one, zero) +
           select(x >= V(table.edge[2]), one, zero);
  }
}

namespace table_detail {

inline constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;

// log(nu * factor) for a factor given in two parts: the rounding of the product is not passed on to
// the logarithm.
inline double log_of_product(double nu, double factor, double factor_low) {
  const double product = nu * factor;
  const double lost = std::fma(nu, factor, -product) + nu * factor_low;
  return std::log(product) + lost / product;
}

// nu log nu - log Gamma(nu + 1/2) - nu + log(2 pi)/2, by Stirling's series at a half-integer shift
// (DLMF 5.11.8). The first omitted term is below 1e-17 for nu >= 32.
SVMF_HOST_DEVICE inline double stirling_remainder(double nu) {
  const double h = 1 / nu, h2 = h * h;
  return h * (1.0 / 24 + h2 * (-7.0 / 2880 + h2 * (31.0 / 40320 + h2 * (-127.0 / 215040))));
}

// sum of order[j] h^j.
SVMF_HOST_DEVICE inline double sum_powers(const double* order, int count, double h) {
  double sum = order[count - 1];
  for (int j = count - 2; j >= 0; --j) sum = sum * h + order[j];
  return sum;
}

template <class Scalar, int kTerms, int kOrders, int kPieces>
void sum_orders(const double (&series)[3][kTerms][kPieces][kOrders], double nu,
                VmfTable<Scalar>& table) {
  const double h = 1 / nu;
  for (int f = 0; f < 3; ++f) {
    for (int i = 0; i < kTerms; ++i) {
      for (int piece = 0; piece < kPieces; ++piece) {
        table.coefficient[f][i][piece] =
            static_cast<Scalar>(sum_powers(series[f][i][piece], kOrders, h));
      }
    }
  }
}

template <class Scalar, int kTerms, int kPieces>
void copy_small(const Scalar (&small)[3][kTerms][kPieces], VmfTable<Scalar>& table) {
  for (int f = 0; f < 3; ++f) {
    for (int i = 0; i < kTerms; ++i) {
      for (int piece = 0; piece < kPieces; ++piece)
        table.coefficient[f][i][piece] = small[f][i][piece];
    }
  }
}

template <class Scalar, int kPieces>
void copy_pieces(const Scalar (&edges)[kPieces - 1], const Scalar (&centers)[kPieces],
                 const int (&counts)[3], VmfTable<Scalar>& table) {
  for (int f = 0; f < 3; ++f) table.terms[f] = counts[f];
  for (int i = 0; i < kPieces; ++i) table.center[i] = centers[i];
  for (int i = 0; i < kPieces - 1; ++i) table.edge[i] = edges[i];
}

template <class Table>
SVMF_HOST_DEVICE void set_center(double nu, double c, Table& table) {
  using Scalar = decltype(table.m);
  table.m = static_cast<Scalar>(2 * nu + 1);
  table.nu = static_cast<Scalar>(nu);
  table.c = static_cast<Scalar>(c);
  table.half_over_c = static_cast<Scalar>(0.5 / c);
}

}  // namespace table_detail

// The table of a real nu >= 32. log_surface and log_gamma: 2 eps.
template <class Scalar>
inline VmfTable<Scalar> make_vmf_table_for_nu(double nu) {
  namespace detail = table_detail;
  using namespace coefficients;
  assert(nu >= kLargeNu);
  constexpr double kHalfLog2 = 0x1.62e42fefa39efp-2;
  VmfTable<Scalar> table{};
  detail::set_center(nu, nu, table);
  const double rest = detail::stirling_remainder(nu);
  //     log S              = nu log(pi e/nu) + log(2)/2 + rest
  //     log Gamma(nu + 1/2) = nu log(nu/e) + log(2 pi)/2 - rest
  // The first terms dominate, so nothing cancels. The factors are 1/(pi e) and 1/e.
  const double log_over_pi_e =
      detail::log_of_product(nu, 0x1.dfa3e572aa123p-4, -0x1.e68c94fadd6e7p-61);
  const double log_over_e =
      detail::log_of_product(nu, 0x1.78b56362cef38p-2, -0x1.ca8a4270fadf5p-57);
  table.log_surface = static_cast<Scalar>(kHalfLog2 + rest - nu * log_over_pi_e);
  table.log_gamma = static_cast<Scalar>(nu * log_over_e + (detail::kHalfLog2Pi - rest));
  table.bessel_constant = static_cast<Scalar>(rest - detail::kHalfLog2Pi);
  if constexpr (VmfTable<Scalar>::kDouble) {
    detail::copy_pieces(kLargeEdgesF64, kLargeCentersF64, kLargeCountsF64, table);
    detail::sum_orders(kLargeF64, nu, table);
  } else {
    detail::copy_pieces(kLargeEdgesF32, kLargeCentersF32, kLargeCountsF32, table);
    detail::sum_orders(kLargeF32, nu, table);
  }
  return table;
}

// The table of the sphere in R^m, m >= 2.
template <class Scalar>
inline VmfTable<Scalar> make_vmf_table(int64_t m) {
  namespace detail = table_detail;
  using namespace coefficients;
  assert(m >= kSmallFirstDim);
  const double nu = 0.5 * static_cast<double>(m - 1);
  const int64_t i = m - kSmallFirstDim;
  if (i >= kSmallDims) return make_vmf_table_for_nu<Scalar>(nu);
  VmfTable<Scalar> table{};
  detail::set_center(nu, kSmallC[i], table);
  table.log_surface = static_cast<Scalar>(kSmallLogSurface[i]);
  table.log_surface_low =
      static_cast<Scalar>((kSmallLogSurface[i] - table.log_surface) + kSmallLogSurfaceLow[i]);
  table.log_gamma = static_cast<Scalar>(kSmallLogGamma[i]);
  table.bessel_constant = static_cast<Scalar>(kSmallBesselConstant[i]);
  if constexpr (VmfTable<Scalar>::kDouble) {
    detail::copy_pieces(kSmallEdgesF64, kSmallCentersF64, kSmallCountsF64[i], table);
    detail::copy_small(kSmallF64[i], table);
  } else {
    detail::copy_pieces(kSmallEdgesF32, kSmallCentersF32, kSmallCountsF32[i], table);
    detail::copy_small(kSmallF32[i], table);
  }
  return table;
}

}  // namespace SVMF_ISA
}  // namespace svmf
