// SPDX-License-Identifier: MIT
// Bessel functions (csrc/math/log_bessel.h), one element per thread. A single order is prepared on
// the host and passed as constants. Orders per element are prepared by each thread: the order is
// raised to where the expansion in 1/nu holds, the polynomials of the one piece that x lies in are
// summed, and the recurrence leads back. That runs in double for both types, as it does on the CPU
// for orders without polynomials of their own.
#pragma once

#include "math/log_bessel.h"

namespace svmf {
inline namespace SVMF_ISA {

// Orders with polynomials of their own.
template <BesselFunction kFunction, class S>
struct BesselOfTable {
  using Constants = BesselOrder<S>;
  __device__ static S apply(const Constants& of, S x) { return bessel_of_table<kFunction>(x, of); }
};

// The others.
struct RecurrenceConstants {
  BesselOrder<double> of;
  double order;
};
template <BesselFunction kFunction, class S>
struct BesselByRecurrence {
  using Constants = RecurrenceConstants;
  __device__ static S apply(const Constants& constants, S x) {
    return static_cast<S>(
        bessel_by_recurrence<kFunction>(static_cast<double>(x), constants.order, constants.of));
  }
};

// The expansion of csrc/math/coefficients_large.h in device memory.
struct LargeNuSeries {
  double edge[3];
  double center[4];
  int terms[3];
  double order[3][coefficients::kLargeTermsF64][4][coefficients::kLargeOrdersF64];
};
constexpr LargeNuSeries copy_large_nu_series() {
  LargeNuSeries series{};
  for (int piece = 0; piece < 3; ++piece) series.edge[piece] = coefficients::kLargeEdgesF64[piece];
  for (int piece = 0; piece < 4; ++piece)
    series.center[piece] = coefficients::kLargeCentersF64[piece];
  for (int f = 0; f < 3; ++f) {
    series.terms[f] = coefficients::kLargeCountsF64[f];
    for (int i = 0; i < coefficients::kLargeTermsF64; ++i) {
      for (int piece = 0; piece < 4; ++piece) {
        for (int j = 0; j < coefficients::kLargeOrdersF64; ++j) {
          series.order[f][i][piece][j] = coefficients::kLargeF64[f][i][piece][j];
        }
      }
    }
  }
  return series;
}
static __device__ const LargeNuSeries kLargeNuSeries = copy_large_nu_series();

// make_bessel_order for any order >= -1 on the device, with the polynomials of the piece that x
// lies in.
__device__ inline void prepare_order(double order, double x, BesselOrder<double>* of) {
  const double nu = order + 0.5;
  of->order = order;
  of->steps =
      nu >= coefficients::kLargeNu ? 0 : static_cast<int>(ceil(coefficients::kLargeNu - nu));
  of->log_factor = of->steps > 0 ? lgamma(order + 1) : 0.0;
  VmfTable<double>& table = of->table;
  const double raised = nu + of->steps;
  table_detail::set_center(raised, raised, table);
  table.bessel_constant = table_detail::stirling_remainder(raised) - table_detail::kHalfLog2Pi;
  for (int i = 0; i < 3; ++i) table.edge[i] = kLargeNuSeries.edge[i];
  for (int i = 0; i < 4; ++i) table.center[i] = kLargeNuSeries.center[i];
  const int64_t piece = place_kappa(x, table).piece.index;
  const double h = 1 / raised;
  constexpr int kFunctions[2] = {kE, kV};
  for (const int f : kFunctions) {
    table.terms[f] = kLargeNuSeries.terms[f];
    for (int i = 0; i < table.terms[f]; ++i) {
      table.coefficient[f][i][piece] = table_detail::sum_powers(kLargeNuSeries.order[f][i][piece],
                                                                coefficients::kLargeOrdersF64, h);
    }
  }
}

struct NoConstants {};

template <BesselFunction kFunction, class S>
struct BesselOfOrders {
  using Constants = NoConstants;
  __device__ static S apply(const Constants&, S order, S x) {
    const double v = static_cast<double>(order);
    if (!(v >= 0) || v == Format<double>::kInfinity) return Format<S>::kNan;
    BesselOrder<double> of;
    prepare_order(base_order(kFunction, v), static_cast<double>(x), &of);
    return static_cast<S>(bessel_by_recurrence<kFunction>(static_cast<double>(x), v, of));
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
