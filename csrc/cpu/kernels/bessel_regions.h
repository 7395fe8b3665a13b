// SPDX-License-Identifier: MIT
// The Bessel functions without tables (csrc/math/bessel_order_functions.h) over rows, in double for
// both types. Their methods have little in common: the elements of a block are sorted by
// region first, so that a register works out one of them and not all. Every element has the bits
// that it has alone.
#pragma once

#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/bessel_order_functions.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace bessel_regions {

using V = Twin<RowVec<double>>;
inline constexpr int kWidth = Lanes<V>::kWidth;
inline constexpr int kBlock = 256;

// Elements of one region: order, argument, result, and where they come from.
struct Part {
  double v[kBlock + kWidth], x[kBlock + kWidth], y[kBlock + kWidth];
  int where[kBlock];
  int count;

  void add(double order, double argument, int i) {
    v[count] = order;
    x[count] = argument;
    where[count++] = i;
  }
  // The last element again, up to a whole register.
  void pad() {
    for (int i = 0; i < kWidth; ++i) {
      v[count + i] = v[count - 1];
      x[count + i] = x[count - 1];
    }
  }
};

// One order for all elements.
struct Same {
  OneOrder one;

  double operator[](int64_t) const { return one.v; }
  OneOrderForAll<V> lanes(const double*) const { return {one}; }
};

// An order per element.
template <class S>
struct Each {
  const S* order;

  double operator[](int64_t i) const { return order[i]; }
  OrderPerLane<V> lanes(const double* v) const { return {V::load(v)}; }
};

template <BesselFunction kFunction, BesselRegion kRegion, class Orders>
void evaluate_part(const Orders& orders, Part& part) {
  if (part.count == 0) return;
  part.pad();
  for (int i = 0; i < part.count; i += kWidth)
    bessel_in_region<kFunction, kRegion>(orders.lanes(part.v + i), V::load(part.x + i),
                                         coefficients::kBesselOrder)
        .store(part.y + i);
}

template <BesselFunction kFunction, class S, class Orders>
void evaluate(const Orders& orders, const S* x, S* out, int64_t n) {
  Part parts[4];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    for (Part& part : parts) part.count = 0;
    const int count = static_cast<int>(std::min<int64_t>(kBlock, n - begin));
    for (int i = 0; i < count; ++i) {
      const double order = orders[begin + i], argument = x[begin + i];
      const BesselRegion region = region_of<kFunction>(order, argument);
      if (region == BesselRegion::kOutside)
        out[begin + i] = static_cast<S>(bessel_outside<kFunction>(order, argument));
      else
        parts[static_cast<int>(region)].add(order, argument, i);
    }
    evaluate_part<kFunction, BesselRegion::kNear>(orders, parts[0]);
    evaluate_part<kFunction, BesselRegion::kCoarse>(orders, parts[1]);
    evaluate_part<kFunction, BesselRegion::kFine>(orders, parts[2]);
    evaluate_part<kFunction, BesselRegion::kFar>(orders, parts[3]);
    for (const Part& part : parts) {
      for (int i = 0; i < part.count; ++i) out[begin + part.where[i]] = static_cast<S>(part.y[i]);
    }
  }
}

}  // namespace bessel_regions

}  // namespace SVMF_ISA
}  // namespace svmf
