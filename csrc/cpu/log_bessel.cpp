// SPDX-License-Identifier: MIT
// CPU ops for logarithms and ratios of modified Bessel functions, for one order or an order per
// element.
#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"

namespace svmf::cpu {

namespace {

Tensor bessel(const char* op, BesselFunction function, double order, const Tensor& x) {
  check_bessel(op, order, x);
  return map_elements(x, [=](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.log_bessel(function, order, in, out, n);
  });
}

Tensor bessel(const char* op, BesselFunction function, const Tensor& order, const Tensor& x) {
  check_bessel_orders(op, order, x);
  return map_elements(
      order, x, [=](const auto& kernels, const auto* in1, const auto* in2, auto* out, int64_t n) {
        kernels.log_bessel_orders(function, in1, in2, out, n);
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

}  // namespace svmf::cpu
