// SPDX-License-Identifier: MIT
// Bessel functions (csrc/math/log_bessel.h), one element per thread. A single order is prepared on
// the host and passed as constants. Orders per element are prepared by each thread, from
// coefficients in device memory and for the one piece that x lies in; that runs in double for both
// types, as it does on the CPU for orders without polynomials of their own.
#pragma once

#include <type_traits>

#include "math/log_bessel.h"

namespace svmf {
inline namespace SVMF_ISA {

// Orders with polynomials of their own.
template <BesselFunction kFunction, class S>
struct BesselOfTable {
  using Constants = BesselOrder<S>;
  __device__ static S apply(const Constants& prepared, S x) {
    return bessel_of_table<kFunction>(x, prepared);
  }
};

// The others.
struct RecurrenceConstants {
  BesselOrder<double> base;
  double order;
};
template <BesselFunction kFunction, class S>
struct BesselByRecurrence {
  using Constants = RecurrenceConstants;
  __device__ static S apply(const Constants& constants, S x) {
    return static_cast<S>(
        bessel_by_recurrence<kFunction>(static_cast<double>(x), constants.order, constants.base));
  }
};

// The coefficients of double precision in device memory: all of csrc/math/coefficients_small.h and
// coefficients_large.h.
struct DeviceCoefficients {
  double small_edge[3], small_center[4], large_edge[3], large_center[4];
  double c[coefficients::kSmallDims], log_gamma[coefficients::kSmallDims],
      bessel_constant[coefficients::kSmallDims];
  int small_terms[coefficients::kSmallDims][3], large_terms[3];
  double small[coefficients::kSmallDims][3][coefficients::kSmallTermsF64][4];
  double large[3][coefficients::kLargeTermsF64][4][coefficients::kLargeOrdersF64];
};
template <class T, size_t N>
constexpr void copy_array(const T (&from)[N], T (&to)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if constexpr (std::is_array_v<T>)
      copy_array(from[i], to[i]);
    else
      to[i] = from[i];
  }
}
constexpr DeviceCoefficients copy_coefficients() {
  using namespace coefficients;
  DeviceCoefficients copy{};
  copy_array(kSmallEdgesF64, copy.small_edge);
  copy_array(kSmallCentersF64, copy.small_center);
  copy_array(kLargeEdgesF64, copy.large_edge);
  copy_array(kLargeCentersF64, copy.large_center);
  copy_array(kSmallC, copy.c);
  copy_array(kSmallLogGamma, copy.log_gamma);
  copy_array(kSmallBesselConstant, copy.bessel_constant);
  copy_array(kSmallCountsF64, copy.small_terms);
  copy_array(kLargeCountsF64, copy.large_terms);
  copy_array(kSmallF64, copy.small);
  copy_array(kLargeF64, copy.large);
  return copy;
}
static __device__ const DeviceCoefficients kDeviceCoefficients = copy_coefficients();

// make_bessel_order on the device for any order >= -1, with the coefficients of the piece that x
// lies in and no others.
__device__ inline void prepare_order(double order, double x, BesselOrder<double>* prepared) {
  const DeviceCoefficients& all = kDeviceCoefficients;
  const double nu = order + 0.5;
  VmfTable<double>& table = prepared->table;
  prepared->order = order;
  prepared->steps = recurrence_steps(order);
  prepared->small = prepared->steps == 0 && nu < coefficients::kLargeNu;
  const double raised = nu + prepared->steps;
  const int dim =
      prepared->small ? static_cast<int>(2 * order + 2) - coefficients::kSmallFirstDim : 0;
  table_detail::set_center(raised, prepared->small ? all.c[dim] : raised, table);
  for (int i = 0; i < 3; ++i)
    table.edge[i] = prepared->small ? all.small_edge[i] : all.large_edge[i];
  for (int i = 0; i < 4; ++i)
    table.center[i] = prepared->small ? all.small_center[i] : all.large_center[i];
  const int64_t piece = place_kappa(x, table).piece.index;
  const double h = 1 / raised;
  constexpr int kFunctions[2] = {kE, kV};
  for (const int f : kFunctions) {
    table.terms[f] = prepared->small ? all.small_terms[dim][f] : all.large_terms[f];
    for (int i = 0; i < table.terms[f]; ++i) {
      table.coefficient[f][i][piece] =
          prepared->small
              ? all.small[dim][f][i][piece]
              : table_detail::sum_powers(all.large[f][i][piece], coefficients::kLargeOrdersF64, h);
    }
  }
  table.bessel_constant =
      prepared->small ? all.bessel_constant[dim]
                      : table_detail::stirling_remainder(raised) - table_detail::kHalfLog2Pi;
  // Only the small orders and the recurrence ask for it.
  prepared->log_factor = prepared->small       ? all.log_gamma[dim]
                         : prepared->steps > 0 ? lgamma(order + 1)
                                               : 0.0;
  set_step_factors(prepared);
}

struct NoConstants {};

template <BesselFunction kFunction, class S>
struct BesselOfOrders {
  using Constants = NoConstants;
  __device__ static S apply(const Constants&, S order, S x) {
    const double v = static_cast<double>(order);
    if (!(v >= 0) || v == Format<double>::kInfinity) return Format<S>::kNan;
    BesselOrder<double> prepared;
    const double argument = static_cast<double>(x);
    prepare_order(base_order(kFunction, v), argument, &prepared);
    return static_cast<S>(prepared.steps == 0
                              ? bessel_of_table<kFunction>(argument, prepared)
                              : bessel_by_recurrence<kFunction>(argument, v, prepared));
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
