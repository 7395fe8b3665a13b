// SPDX-License-Identifier: MIT
// What a Bessel order v is to the loops of log_bessel_k.h and bessel_order_derivative.h: an order
// per lane, or one order for all lanes whose weights are worked out once. Both have
//     order()                     v
//     reciprocal(k)               1/(v+k)
//     weigh(grid, i, e, &c, &s)   e^e cosh(v t), e^e t sinh(v t) at node t = grid.node[i], e <= 0
#pragma once

#include "math/bessel_order_coefficients.h"
#include "math/elementary.h"

namespace svmf {
inline namespace SVMF_ISA {

using coefficients::BesselOrderTables;

// Terms of the power series of I_v: enough for x up to kFar.
inline constexpr int kSeriesTerms = 36;
inline constexpr int kMostNodes =
    sizeof(BesselOrderTables::fine_node) / sizeof(BesselOrderTables::fine_node[0]);

// The nodes of the trapezoidal rule on t >= 0 and cosh t - 1 there: with fine steps, or with coarse
// ones, which do for v < kCoarseOrder and x^2 + v^2 < kCoarseSquare.
inline constexpr double kCoarseOrder = 4, kCoarseSquare = 100;
struct BesselGrid {
  const double *node, *cosh;
  int count;
  double step;
  bool fine;
};
SVMF_INLINE BesselGrid fine_grid(const BesselOrderTables& tables) {
  return {tables.fine_node, tables.fine_cosh, kMostNodes, coefficients::kFineStep, true};
}
SVMF_INLINE BesselGrid coarse_grid(const BesselOrderTables& tables) {
  constexpr int kCount = sizeof(tables.coarse_node) / sizeof(tables.coarse_node[0]);
  return {tables.coarse_node, tables.coarse_cosh, kCount, coefficients::kCoarseStep, false};
}

template <class V>
struct OrderPerLane {
  V v;

  SVMF_INLINE V order() const { return v; }
  SVMF_INLINE V reciprocal(int k) const { return V(1) / (v + V(k)); }
  // cosh z and sinh z times e^-z are (1 + e^-2z)/2 and (1 - e^-2z)/2.
  SVMF_INLINE void weigh(const BesselGrid& grid, int i, V exponent, V* with_cosh,
                         V* with_sinh) const {
    const V t(grid.node[i]), z = v * t;
    const V half = V(0.5) * exponential(z + exponent);
    V square_of_inverse, minus_one;
    exponential_pair(V(-2) * z, &square_of_inverse, &minus_one);
    *with_cosh = half * (V(1) + square_of_inverse);
    *with_sinh = -(half * minus_one) * t;
  }
};

struct OneOrder {
  double v;
  double reciprocals[kSeriesTerms + 1];
  double cosh[2][kMostNodes], t_sinh[2][kMostNodes];  // of the coarse and the fine grid

  OneOrder(double order, const BesselOrderTables& tables) : v(order) {
    const OrderPerLane<double> lane{order};
    for (int k = 1; k <= kSeriesTerms; ++k) reciprocals[k] = lane.reciprocal(k);
    prepare(lane, coarse_grid(tables));
    prepare(lane, fine_grid(tables));
  }
  void prepare(const OrderPerLane<double>& lane, const BesselGrid& grid) {
    for (int i = 0; i < grid.count; ++i)
      lane.weigh(grid, i, 0.0, &cosh[grid.fine][i], &t_sinh[grid.fine][i]);
  }
};

// e^x for x <= 0, below e^-708 as that. Error 1.1 ulp.
template <class V>
SVMF_INLINE V exponential_of_negative(V x) {
  V value, minus_one;
  exponential_pair(x, &value, &minus_one);
  return value;
}

// The same for all lanes of type V.
template <class V>
struct OneOrderForAll {
  const OneOrder& one;

  SVMF_INLINE V order() const { return V(one.v); }
  SVMF_INLINE V reciprocal(int k) const { return V(one.reciprocals[k]); }
  SVMF_INLINE void weigh(const BesselGrid& grid, int i, V exponent, V* with_cosh,
                         V* with_sinh) const {
    const V e = exponential_of_negative(exponent);
    *with_cosh = e * V(one.cosh[grid.fine][i]);
    *with_sinh = e * V(one.t_sinh[grid.fine][i]);
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
