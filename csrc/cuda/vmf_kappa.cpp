// SPDX-License-Identifier: MIT
// CUDA ops that map a tensor of concentrations (or mean lengths, or w) elementwise for one
// dimension m.
#include "common/op_checks.h"
#include "cuda/elementwise.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"

namespace svmf::cuda {

namespace {

Tensor function_of_kappa(const char* op, KappaFunction function, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(op, kappa, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_vmf_kappa(function, in, out, n, dim, stream);
  });
}

}  // namespace

#define SVMF_KAPPA_OP(name, function)                                     \
  Tensor name(const Tensor& kappa, int64_t dim) {                         \
    return function_of_kappa(#name, KappaFunction::function, kappa, dim); \
  }
#include "common/ops.inc"

Tensor vmf_concentration(const Tensor& mean_length, int64_t dim) {
  constexpr const char* op = "vmf_concentration";
  check_function_of_dim(op, "mean_length", mean_length, dim);
  return map_elements(op, mean_length,
                      [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
                        return launch_vmf_concentration(in, out, n, dim, stream);
                      });
}

Tensor vmf_pathwise_derivative(const Tensor& w, const Tensor& kappa, int64_t dim) {
  constexpr const char* op = "vmf_pathwise_derivative";
  check_pathwise_derivative(op, w, kappa, dim);
  return map_elements(
      op, w, kappa,
      [&](const auto* in1, const auto* in2, auto* out, int64_t n, cudaStream_t stream) {
        return launch_vmf_pathwise(in1, in2, out, n, dim, stream);
      });
}

}  // namespace svmf::cuda
