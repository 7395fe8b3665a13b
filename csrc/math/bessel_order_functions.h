// SPDX-License-Identifier: MIT
// The Bessel functions that are computed from an order and x alone, without tables of the order:
// which region an element belongs to, and the function there.
#pragma once

#include "common/functions.h"
#include "math/bessel_order_derivative.h"
#include "math/log_bessel_k.h"

namespace svmf {
inline namespace SVMF_ISA {

SVMF_HOST_DEVICE constexpr bool needs_no_table(BesselFunction f) {
  return f == BesselFunction::kLogKv || f == BesselFunction::kLogKve ||
         f == BesselFunction::kLogKveGrad || f == BesselFunction::kLogKveGrad2 ||
         f == BesselFunction::kLogKvOrderDerivative || f == BesselFunction::kLogIvOrderDerivative;
}

enum class BesselRegion : int { kNear, kCoarse, kFine, kFar, kOutside };

// kOutside has what no formula is for: x = 0, infinities, and all that is no argument.
template <BesselFunction kFunction>
SVMF_INLINE BesselRegion region_of(double v, double x) {
  constexpr double kInfinity = Format<double>::kInfinity;
  if (!(x > 0 && x < kInfinity && v >= 0 && v < kInfinity)) return BesselRegion::kOutside;
  if (v >= coefficients::kFar || x >= coefficients::kFar) return BesselRegion::kFar;
  const double square = v * v + x * x;
  if (square >= coefficients::kFar * coefficients::kFar) return BesselRegion::kFar;
  if (kFunction == BesselFunction::kLogIvOrderDerivative) return BesselRegion::kFine;
  if (x < kNear) return BesselRegion::kNear;
  return v < kCoarseOrder && square < kCoarseSquare ? BesselRegion::kCoarse : BesselRegion::kFine;
}

// At x = 0 and x = inf, and nan elsewhere.
template <BesselFunction kFunction>
SVMF_INLINE double bessel_outside(double v, double x) {
  constexpr double kInfinity = Format<double>::kInfinity;
  if (!(x >= 0 && v >= 0 && v < kInfinity)) return Format<double>::kNan;
  const bool at_zero = x == 0;
  if (kFunction == BesselFunction::kLogKv || kFunction == BesselFunction::kLogKve)
    return at_zero ? kInfinity : -kInfinity;
  if (kFunction == BesselFunction::kLogKveGrad) return at_zero ? -kInfinity : 0;
  if (kFunction == BesselFunction::kLogKveGrad2) return at_zero ? kInfinity : 0;
  if (kFunction == BesselFunction::kLogKvOrderDerivative) return at_zero && v > 0 ? kInfinity : 0;
  return at_zero ? -kInfinity : 0;
}

template <BesselFunction kFunction, BesselRegion kRegion, class V, class Order>
SVMF_INLINE V bessel_in_region(const Order& order, V x, const BesselOrderTables& tables) {
  const V v = order.order();
  if constexpr (kRegion == BesselRegion::kFar) {
    const FarPoint<V> point(v, x);
    if constexpr (kFunction == BesselFunction::kLogKv) return log_kve_far(point, tables) - x;
    if constexpr (kFunction == BesselFunction::kLogKve) return log_kve_far(point, tables);
    if constexpr (kFunction == BesselFunction::kLogKveGrad) return log_kve_slope_far(point, tables);
    if constexpr (kFunction == BesselFunction::kLogKveGrad2) return log_kve_bend_far(point, tables);
    if constexpr (kFunction == BesselFunction::kLogKvOrderDerivative)
      return log_kv_order_slope_far(point, tables);
    if constexpr (kFunction == BesselFunction::kLogIvOrderDerivative)
      return log_iv_order_slope_far(point, tables);
  } else if constexpr (kFunction == BesselFunction::kLogIvOrderDerivative) {
    return log_iv_order_slope_by_series(order, x, tables);
  } else if constexpr (kRegion != BesselRegion::kNear) {
    const BesselGrid grid =
        kRegion == BesselRegion::kCoarse ? coarse_grid(tables) : fine_grid(tables);
    if constexpr (kFunction == BesselFunction::kLogKv) return log_kve_between(order, x, grid) - x;
    if constexpr (kFunction == BesselFunction::kLogKve) return log_kve_between(order, x, grid);
    if constexpr (kFunction == BesselFunction::kLogKveGrad)
      return log_kve_slope_between(order, x, grid);
    if constexpr (kFunction == BesselFunction::kLogKveGrad2)
      return log_kve_bend_between(order, x, grid);
    if constexpr (kFunction == BesselFunction::kLogKvOrderDerivative)
      return log_kv_order_slope_between(order, x, grid);
  } else {
    if constexpr (kFunction == BesselFunction::kLogKv) return log_kv_near(v, x, tables);
    if constexpr (kFunction == BesselFunction::kLogKve) return log_kv_near(v, x, tables) + x;
    if constexpr (kFunction == BesselFunction::kLogKveGrad) return log_kve_slope_near(v, x, tables);
    if constexpr (kFunction == BesselFunction::kLogKveGrad2) return log_kve_bend_near(v, x, tables);
    if constexpr (kFunction == BesselFunction::kLogKvOrderDerivative)
      return log_kv_order_slope_near(v, x, tables);
  }
}

// One element: the device, and tests.
template <BesselFunction kFunction>
SVMF_INLINE double bessel_at(double v, double x, const BesselOrderTables& tables) {
  const OrderPerLane<double> order{v};
  switch (region_of<kFunction>(v, x)) {
    case BesselRegion::kNear:
      return bessel_in_region<kFunction, BesselRegion::kNear>(order, x, tables);
    case BesselRegion::kCoarse:
      return bessel_in_region<kFunction, BesselRegion::kCoarse>(order, x, tables);
    case BesselRegion::kFine:
      return bessel_in_region<kFunction, BesselRegion::kFine>(order, x, tables);
    case BesselRegion::kFar:
      return bessel_in_region<kFunction, BesselRegion::kFar>(order, x, tables);
    case BesselRegion::kOutside:
      break;
  }
  return bessel_outside<kFunction>(v, x);
}

}  // namespace SVMF_ISA
}  // namespace svmf
