// SPDX-License-Identifier: MIT
// Bessel functions, one x per lane. A single order is prepared once per range; an order per element
// is prepared per element, and again only when it differs from the one before; functions without
// tables are in bessel_regions.h. Orders without
// polynomials of their own go through double in both types: 32 steps of recurrence would not keep
// the error bound of float.
#include <algorithm>

#include "cpu/kernels/bessel_regions.h"
#include "cpu/kernels/rows.h"
#include "math/log_bessel.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

template <BesselFunction kFunction, class S>
void loop(double order, const S* x, S* out, int64_t n) {
  if (!(order >= 0) || order == Format<double>::kInfinity) {
    std::fill(out, out + n, Format<S>::kNan);
    return;
  }
  const double base = base_order(kFunction, order);
  if (has_own_table(base)) {
    const BesselOrder<S> constants = make_bessel_order<S>(base);
    map_lanes(x, out, n, [&](auto v) { return bessel_of_table<kFunction>(v, constants); });
    return;
  }
  const BesselOrder<double> constants = make_bessel_order<double>(base);
  constexpr int64_t kBlock = 64;
  double in[kBlock], result[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    for (int64_t i = 0; i < count; ++i) in[i] = x[begin + i];
    map_lanes(in, result, count,
              [&](auto v) { return bessel_by_recurrence<kFunction>(v, order, constants); });
    for (int64_t i = 0; i < count; ++i) out[begin + i] = static_cast<S>(result[i]);
  }
}

}  // namespace

template <class S>
void log_bessel_rows(BesselFunction function, double order, const S* x, S* out, int64_t n) {
  with_constant(function, [&](auto f) {
    constexpr BesselFunction kFunction = decltype(f)::value;
    if constexpr (needs_no_table(kFunction)) {
      const OneOrder one(order, coefficients::kBesselOrder);
      bessel_regions::evaluate<kFunction>(bessel_regions::Same{one}, x, out, n);
    } else {
      loop<kFunction>(order, x, out, n);
    }
  });
}

template <class S>
void log_bessel_orders_rows(BesselFunction function, const S* order, const S* x, S* out,
                            int64_t n) {
  with_constant(function, [&](auto f) {
    constexpr BesselFunction kFunction = decltype(f)::value;
    if constexpr (needs_no_table(kFunction)) {
      bessel_regions::evaluate<kFunction>(bessel_regions::Each<S>{order}, x, out, n);
    } else {
      for (int64_t i = 0; i < n;) {
        int64_t end = i + 1;
        while (end < n && order[end] == order[i]) ++end;
        loop<kFunction>(order[i], x + i, out + i, end - i);
        i = end;
      }
    }
  });
}

template void log_bessel_rows(BesselFunction, double, const float*, float*, int64_t);
template void log_bessel_rows(BesselFunction, double, const double*, double*, int64_t);
template void log_bessel_orders_rows(BesselFunction, const float*, const float*, float*, int64_t);
template void log_bessel_orders_rows(BesselFunction, const double*, const double*, double*,
                                     int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
