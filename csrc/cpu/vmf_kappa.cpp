// SPDX-License-Identifier: MIT
// CPU ops that map a tensor of concentrations (or mean lengths, or w) elementwise for one dimension
// m.
#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"

namespace svmf::cpu {

namespace {

Tensor function_of_kappa(const char* op, KappaFunction function, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(kappa, [=](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.vmf_kappa(function, in, out, n, dim);
  });
}

}  // namespace

#define SVMF_KAPPA_OP(name, function)                                     \
  Tensor name(const Tensor& kappa, int64_t dim) {                         \
    return function_of_kappa(#name, KappaFunction::function, kappa, dim); \
  }
#include "common/ops.inc"

Tensor vmf_concentration(const Tensor& mean_length, int64_t dim) {
  check_function_of_dim("vmf_concentration", "mean_length", mean_length, dim);
  return map_elements(mean_length, [=](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.vmf_concentration(in, out, n, dim);
  });
}

Tensor vmf_pathwise_derivative(const Tensor& w, const Tensor& kappa, int64_t dim) {
  check_pathwise_derivative("vmf_pathwise_derivative", w, kappa, dim);
  return map_elements(
      w, kappa, [=](const auto& kernels, const auto* in1, const auto* in2, auto* out, int64_t n) {
        kernels.vmf_pathwise(in1, in2, out, n, dim);
      });
}

}  // namespace svmf::cpu
