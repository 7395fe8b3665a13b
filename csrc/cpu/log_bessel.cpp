// SPDX-License-Identifier: MIT
// CPU ops for logarithms and ratios of modified Bessel functions, for one order or an order per
// element.
#include <torch/csrc/stable/library.h>

#include "common/op_checks.h"
#include "cpu/elementwise.h"

namespace svmf {
namespace {

template <BesselFunction kFunction>
Tensor bessel_op(const char* op, double order, const Tensor& x) {
  check_bessel(op, order, x);
  return map_elements(x, [order](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.log_bessel(kFunction, order, in, out, n);
  });
}

template <BesselFunction kFunction>
Tensor bessel_orders_op(const char* op, const Tensor& order, const Tensor& x) {
  check_bessel_orders(op, order, x);
  return map_elements(
      order, x, [](const auto& kernels, const auto* in1, const auto* in2, auto* out, int64_t n) {
        kernels.log_bessel_orders(kFunction, in1, in2, out, n);
      });
}

#define SVMF_BESSEL_OP(name, function)                                  \
  Tensor name##_cpu(double order, const Tensor& x) {                    \
    return bessel_op<BesselFunction::function>(#name, order, x);        \
  }                                                                     \
  Tensor name##_orders_cpu(const Tensor& order, const Tensor& x) {      \
    return bessel_orders_op<BesselFunction::function>(#name, order, x); \
  }

SVMF_BESSEL_OP(log_iv, kLogIv)
SVMF_BESSEL_OP(log_ive, kLogIve)
SVMF_BESSEL_OP(iv_ratio, kIvRatio)
SVMF_BESSEL_OP(_iv_ratio_grad, kIvRatioGrad)

}  // namespace
}  // namespace svmf

#define SVMF_IMPL(name)                        \
  m.impl(#name, TORCH_BOX(&svmf::name##_cpu)); \
  m.impl(#name ".tensor", TORCH_BOX(&svmf::name##_orders_cpu))

STABLE_TORCH_LIBRARY_IMPL(svmf, CPU, m) {
  SVMF_IMPL(log_iv);
  SVMF_IMPL(log_ive);
  SVMF_IMPL(iv_ratio);
  SVMF_IMPL(_iv_ratio_grad);
}
