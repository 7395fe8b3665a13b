// SPDX-License-Identifier: MIT
// Launches the Bessel functions.
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/log_bessel.cuh"

namespace svmf {

namespace {

template <BesselFunction kFunction, class T>
cudaError_t launch_order(double order, const T* x, T* out, int64_t n, cudaStream_t stream) {
  using S = ComputeType<T>;
  if constexpr (needs_no_table(kFunction)) {
    return launch_elements<BesselWithoutTable<kFunction, S>>(PlainOrder{order}, out, n, stream, x);
  } else {
    const double base = base_order(kFunction, order);
    if (has_own_table(base)) {
      return launch_elements<BesselOfTable<kFunction, S>>(make_bessel_order<S>(base), out, n,
                                                          stream, x);
    }
    return launch_elements<BesselByRecurrence<kFunction, S>>(
        RecurrenceConstants{make_bessel_order<double>(base), order}, out, n, stream, x);
  }
}

}  // namespace

template <class T>
cudaError_t launch_log_bessel(BesselFunction function, double order, const T* x, T* out, int64_t n,
                              cudaStream_t stream) {
  return with_constant(function, [&](auto chosen) {
    return launch_order<decltype(chosen)::value>(order, x, out, n, stream);
  });
}

template <class T>
cudaError_t launch_log_bessel_orders(BesselFunction function, const T* order, const T* x, T* out,
                                     int64_t n, cudaStream_t stream) {
  return with_constant(function, [&](auto chosen) {
    return launch_elements<BesselOfOrders<decltype(chosen)::value, ComputeType<T>>>(
        NoConstants{}, out, n, stream, order, x);
  });
}

#define SVMF_INSTANTIATE(T)                                                                      \
  template cudaError_t launch_log_bessel(BesselFunction, double, const T*, T*, int64_t,          \
                                         cudaStream_t);                                          \
  template cudaError_t launch_log_bessel_orders(BesselFunction, const T*, const T*, T*, int64_t, \
                                                cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
