// SPDX-License-Identifier: MIT
// What a Bessel order v is to the loops of log_bessel_k.h and bessel_order_derivative.h: an order
// per lane, or one order for all lanes whose weights are worked out once. Both have
//     order()                     v
//     reciprocal(k)               1/(v+k)
//     weigh(t, i, exponent, &c, &s)   e^exponent cosh(v t), e^exponent t sinh(v t) at node i, t
#pragma once

#include "math/bessel_order_coefficients.h"
#include "math/elementary.h"

namespace svmf {
inline namespace SVMF_ISA {

using coefficients::BesselOrderTables;

// Terms of the power series of I_v: enough for x up to kFar.
inline constexpr int kSeriesTerms = 36;
inline constexpr int kBesselNodes =
    sizeof(BesselOrderTables::node) / sizeof(BesselOrderTables::node[0]);

// e^z cosh(z), e^z sinh(z) times 2 for z >= 0 are 1 + e^-2z and 1 - e^-2z.
template <class V>
struct OrderPerLane {
  V v;

  SVMF_INLINE V order() const { return v; }
  SVMF_INLINE V reciprocal(int k) const { return V(1) / (v + V(k)); }
  SVMF_INLINE void weigh(V t, int, V exponent, V* with_cosh, V* with_sinh) const {
    const V z = v * t;
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
  double cosh[kBesselNodes], t_sinh[kBesselNodes];

  explicit OneOrder(double order, const BesselOrderTables& tables) : v(order) {
    const OrderPerLane<double> lane{order};
    for (int k = 1; k <= kSeriesTerms; ++k) reciprocals[k] = lane.reciprocal(k);
    for (int i = 0; i < kBesselNodes; ++i) lane.weigh(tables.node[i], i, 0.0, &cosh[i], &t_sinh[i]);
  }
};

// The same for all lanes of type V.
template <class V>
struct OneOrderForAll {
  const OneOrder& one;

  SVMF_INLINE V order() const { return V(one.v); }
  SVMF_INLINE V reciprocal(int k) const { return V(one.reciprocals[k]); }
  SVMF_INLINE void weigh(V, int i, V exponent, V* with_cosh, V* with_sinh) const {
    const V e = exponential(exponent);
    *with_cosh = e * V(one.cosh[i]);
    *with_sinh = e * V(one.t_sinh[i]);
  }
};

}  // namespace SVMF_ISA
}  // namespace svmf
