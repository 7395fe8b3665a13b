// SPDX-License-Identifier: MIT
// CPU ops that map a tensor of concentrations (or mean lengths, or w) elementwise for one dimension
// m.
#include <torch/csrc/stable/library.h>

#include "common/op_checks.h"
#include "cpu/elementwise.h"

namespace svmf {
namespace {

template <KappaFunction kFunction>
Tensor kappa_op(const char* op, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(kappa, [dim](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.vmf_kappa(kFunction, in, out, n, dim);
  });
}

#define SVMF_KAPPA_OP(name, function)                            \
  Tensor name##_cpu(const Tensor& kappa, int64_t dim) {          \
    return kappa_op<KappaFunction::function>(#name, kappa, dim); \
  }

SVMF_KAPPA_OP(vmf_log_norm, kLogNorm)
SVMF_KAPPA_OP(vmf_log_partition, kLogPartition)
SVMF_KAPPA_OP(vmf_mean_length, kMeanLength)
SVMF_KAPPA_OP(vmf_mean_length_complement, kMeanLengthComplement)
SVMF_KAPPA_OP(_vmf_mean_length_grad, kMeanLengthGrad)
SVMF_KAPPA_OP(_vmf_mean_length_grad2, kMeanLengthGrad2)
SVMF_KAPPA_OP(vmf_kl_uniform, kKlUniform)
SVMF_KAPPA_OP(_vmf_kl_uniform_grad, kKlUniformGrad)
SVMF_KAPPA_OP(_vmf_kl_uniform_grad2, kKlUniformGrad2)
SVMF_KAPPA_OP(vmf_entropy, kEntropy)

Tensor vmf_concentration_cpu(const Tensor& mean_length, int64_t dim) {
  check_function_of_dim("vmf_concentration", "mean_length", mean_length, dim);
  return map_elements(mean_length,
                      [dim](const auto& kernels, const auto* in, auto* out, int64_t n) {
                        kernels.vmf_concentration(in, out, n, dim);
                      });
}

Tensor vmf_pathwise_derivative_cpu(const Tensor& w, const Tensor& kappa, int64_t dim) {
  check_pathwise_derivative("vmf_pathwise_derivative", w, kappa, dim);
  return map_elements(
      w, kappa, [dim](const auto& kernels, const auto* in1, const auto* in2, auto* out, int64_t n) {
        kernels.vmf_pathwise(in1, in2, out, n, dim);
      });
}

}  // namespace
}  // namespace svmf

#define SVMF_IMPL(name) m.impl(#name, TORCH_BOX(&svmf::name##_cpu))

STABLE_TORCH_LIBRARY_IMPL(svmf, CPU, m) {
  SVMF_IMPL(vmf_log_norm);
  SVMF_IMPL(vmf_log_partition);
  SVMF_IMPL(vmf_mean_length);
  SVMF_IMPL(vmf_mean_length_complement);
  SVMF_IMPL(_vmf_mean_length_grad);
  SVMF_IMPL(_vmf_mean_length_grad2);
  SVMF_IMPL(vmf_kl_uniform);
  SVMF_IMPL(_vmf_kl_uniform_grad);
  SVMF_IMPL(_vmf_kl_uniform_grad2);
  SVMF_IMPL(vmf_entropy);
  SVMF_IMPL(vmf_concentration);
  SVMF_IMPL(vmf_pathwise_derivative);
}
