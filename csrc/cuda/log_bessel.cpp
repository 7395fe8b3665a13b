// SPDX-License-Identifier: MIT
// CUDA ops for logarithms and ratios of modified Bessel functions, for one order or an order per
// element.
#include "common/op_checks.h"
#include "cuda/elementwise.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"

namespace svmf::cuda {

namespace {

Tensor bessel(const char* op, BesselFunction function, double order, const Tensor& x) {
  check_bessel(op, order, x);
  return map_elements(op, x, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_log_bessel(function, order, in, out, n, stream);
  });
}

Tensor bessel(const char* op, BesselFunction function, const Tensor& order, const Tensor& x) {
  check_bessel_orders(op, order, x);
  return map_elements(
      op, order, x, [&](const auto* v, const auto* in, auto* out, int64_t n, cudaStream_t stream) {
        return launch_log_bessel_orders(function, v, in, out, n, stream);
      });
}

}  // namespace

#define SVMF_BESSEL_OP(name, function)                         \
  Tensor name(double order, const Tensor& x) {                 \
    return bessel(#name, BesselFunction::function, order, x);  \
  }                                                            \
  Tensor name##_orders(const Tensor& order, const Tensor& x) { \
    return bessel(#name, BesselFunction::function, order, x);  \
  }
#include "common/ops.inc"

}  // namespace svmf::cuda
