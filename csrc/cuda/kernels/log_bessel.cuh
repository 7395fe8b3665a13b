// SPDX-License-Identifier: MIT
// Bessel functions (csrc/math/log_bessel.h), one element per thread. A single order is prepared on
// the host and passed as constants. Orders per element are prepared by each thread, from
// coefficients in device memory and for its own x alone; that runs in double for both types, as it
// does on the CPU for orders without polynomials of their own.
#pragma once

#include <type_traits>

#include "math/bessel_order_functions.h"
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

// What VmfTable and BesselOrder are for one x: the values of the polynomials in the place of their
// coefficients, which would be an array in local memory.
struct TableAtPoint {
  double m, nu, c, bessel_constant;
  double E, V;
  KappaPlace<double> place;
};
__device__ __forceinline__ KappaPlace<double> place_kappa(double, const TableAtPoint& table) {
  return table.place;
}
__device__ __forceinline__ double evaluate(int function, const KappaPlace<double>&,
                                           const TableAtPoint& table) {
  return function == kE ? table.E : table.V;
}

struct OrderAtPoint {
  TableAtPoint table;
  double order, log_factor;
  int steps;
  bool small;
};
__device__ __forceinline__ double step_factor(const OrderAtPoint& constants, int i) {
  return compute_step_factor(constants.order, i);
}

// Row i of a function's coefficients: those of the polynomial, or their series in 1/nu.
struct CoefficientRows {
  int dim;  // -1: a large order
  int64_t piece;
  double h;  // 1/nu

  __device__ double operator()(int function, int i) const {
    const DeviceCoefficients& all = kDeviceCoefficients;
    return dim >= 0 ? all.small[dim][function][i][piece]
                    : table_detail::sum_powers(all.large[function][i][piece],
                                               coefficients::kLargeOrdersF64, h);
  }
  __device__ double sum(int function, double t) const {
    const DeviceCoefficients& all = kDeviceCoefficients;
    int i = (dim >= 0 ? all.small_terms[dim][function] : all.large_terms[function]) - 1;
    double sum = (*this)(function, i);
    while (--i >= 0) sum = mul_add(sum, t, (*this)(function, i));
    return sum;
  }
};

// make_bessel_order on the device for any order >= -1.
template <BesselFunction kFunction>
__device__ __forceinline__ OrderAtPoint prepare_order(double order, double x) {
  const DeviceCoefficients& all = kDeviceCoefficients;
  const double nu = order + 0.5;
  const int steps = recurrence_steps(order);
  const bool small = steps == 0 && nu < coefficients::kLargeNu;
  const int dim = small ? static_cast<int>(2 * order + 2) - coefficients::kSmallFirstDim : -1;
  const double raised = nu + steps;
  struct {
    double m, nu, c, half_over_c;
    const double *edge, *center;
  } pieces;
  table_detail::set_center(raised, small ? all.c[dim] : raised, pieces);
  pieces.edge = small ? all.small_edge : all.large_edge;
  pieces.center = small ? all.small_center : all.large_center;
  const KappaPlace<double> place = place_kappa(x, pieces);
  const CoefficientRows rows{dim, place.piece.index, 1 / raised};
  const double E = is_ratio(kFunction) || steps > 0 ? rows.sum(kE, place.t) : 0.0;
  const double V = is_ratio(kFunction) ? 0.0 : rows.sum(kV, place.t);
  const double bessel_constant =
      small ? all.bessel_constant[dim]
            : table_detail::stirling_remainder(raised) - table_detail::kHalfLog2Pi;
  // Only the small orders and the recurrence ask for it.
  const double log_factor = small ? all.log_gamma[dim] : steps > 0 ? lgamma(order + 1) : 0.0;
  return {{pieces.m, pieces.nu, pieces.c, bessel_constant, E, V, place},
          order,
          log_factor,
          steps,
          small};
}

struct NoConstants {};

// Functions without tables of the order, in double.
static __device__ const BesselOrderTables kDeviceBesselOrder = coefficients::kBesselOrder;

struct PlainOrder {
  double order;
};
template <BesselFunction kFunction, class S>
struct BesselWithoutTable {
  using Constants = PlainOrder;
  __device__ static S apply(const Constants& constants, S x) {
    return static_cast<S>(
        bessel_at<kFunction>(constants.order, static_cast<double>(x), kDeviceBesselOrder));
  }
};

template <BesselFunction kFunction, class S>
struct BesselOfOrders {
  using Constants = NoConstants;
  __device__ static S apply(const Constants&, S order, S x) {
    const double v = static_cast<double>(order), argument = static_cast<double>(x);
    if constexpr (needs_no_table(kFunction)) {
      return static_cast<S>(bessel_at<kFunction>(v, argument, kDeviceBesselOrder));
    } else {
      if (!(v >= 0) || v == Format<double>::kInfinity) return Format<S>::kNan;
      const OrderAtPoint prepared = prepare_order<kFunction>(base_order(kFunction, v), argument);
      return static_cast<S>(prepared.steps == 0
                                ? bessel_of_table<kFunction>(argument, prepared)
                                : bessel_by_recurrence<kFunction>(argument, v, prepared));
    }
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
