// SPDX-License-Identifier: MIT
// The CUDA ops as functions, in the order of csrc/schemas.cpp, and the list by which they are
// registered.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <tuple>
#include <vector>

namespace svmf {

using torch::stable::Tensor;

Tensor log_iv_cuda(double order, const Tensor& x);
Tensor log_iv_orders_cuda(const Tensor& order, const Tensor& x);
Tensor log_ive_cuda(double order, const Tensor& x);
Tensor log_ive_orders_cuda(const Tensor& order, const Tensor& x);
Tensor iv_ratio_cuda(double order, const Tensor& x);
Tensor iv_ratio_orders_cuda(const Tensor& order, const Tensor& x);
Tensor _iv_ratio_grad_cuda(double order, const Tensor& x);
Tensor _iv_ratio_grad_orders_cuda(const Tensor& order, const Tensor& x);

Tensor vmf_log_norm_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_log_partition_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_mean_length_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_mean_length_complement_cuda(const Tensor& kappa, int64_t dim);
Tensor _vmf_mean_length_grad_cuda(const Tensor& kappa, int64_t dim);
Tensor _vmf_mean_length_grad2_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_kl_uniform_cuda(const Tensor& kappa, int64_t dim);
Tensor _vmf_kl_uniform_grad_cuda(const Tensor& kappa, int64_t dim);
Tensor _vmf_kl_uniform_grad2_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_entropy_cuda(const Tensor& kappa, int64_t dim);
Tensor vmf_concentration_cuda(const Tensor& mean_length, int64_t dim);
Tensor vmf_pathwise_derivative_cuda(const Tensor& w, const Tensor& kappa, int64_t dim);

Tensor vmf_kl_cuda(const Tensor& loc1, const Tensor& kappa1, const Tensor& loc2,
                   const Tensor& kappa2);
Tensor householder_cuda(const Tensor& x, const Tensor& loc);
std::tuple<Tensor, Tensor> _householder_backward_cuda(const Tensor& grad, const Tensor& x,
                                                      const Tensor& loc);
Tensor vmf_log_prob_cuda(const Tensor& value, const Tensor& loc, const Tensor& kappa);

std::tuple<Tensor, Tensor> vmf_rsample_cuda(const Tensor& loc, const Tensor& kappa,
                                            const Tensor& seed, std::vector<int64_t> sample_shape,
                                            int64_t gradient, bool keep_state);
std::tuple<Tensor, Tensor, Tensor> vmf_rsample_kl_cuda(const Tensor& loc, const Tensor& kappa,
                                                       const Tensor& seed,
                                                       std::vector<int64_t> sample_shape,
                                                       int64_t gradient, bool keep_state);
std::tuple<Tensor, Tensor, Tensor> vmf_rsample_with_correction_cuda(
    const Tensor& loc, const Tensor& kappa, const Tensor& seed, std::vector<int64_t> sample_shape,
    bool keep_state);
std::tuple<Tensor, Tensor> _vmf_rsample_backward_cuda(
    const Tensor& grad_z, std::optional<Tensor> grad_kl, std::optional<Tensor> grad_log_ratio,
    const Tensor& z, const Tensor& state, const Tensor& loc, const Tensor& kappa, int64_t gradient);

}  // namespace svmf

// SVMF_CUDA_OPS(X) is X(name of the op, name of the function) for all of them.
#define SVMF_CUDA_BESSEL_OPS(X, name) X(#name, name##_cuda) X(#name ".tensor", name##_orders_cuda)
#define SVMF_CUDA_OPS(X)                                             \
  SVMF_CUDA_BESSEL_OPS(X, log_iv)                                    \
  SVMF_CUDA_BESSEL_OPS(X, log_ive)                                   \
  SVMF_CUDA_BESSEL_OPS(X, iv_ratio)                                  \
  SVMF_CUDA_BESSEL_OPS(X, _iv_ratio_grad)                            \
  X("vmf_log_norm", vmf_log_norm_cuda)                               \
  X("vmf_log_partition", vmf_log_partition_cuda)                     \
  X("vmf_mean_length", vmf_mean_length_cuda)                         \
  X("vmf_mean_length_complement", vmf_mean_length_complement_cuda)   \
  X("_vmf_mean_length_grad", _vmf_mean_length_grad_cuda)             \
  X("_vmf_mean_length_grad2", _vmf_mean_length_grad2_cuda)           \
  X("vmf_kl_uniform", vmf_kl_uniform_cuda)                           \
  X("_vmf_kl_uniform_grad", _vmf_kl_uniform_grad_cuda)               \
  X("_vmf_kl_uniform_grad2", _vmf_kl_uniform_grad2_cuda)             \
  X("vmf_entropy", vmf_entropy_cuda)                                 \
  X("vmf_concentration", vmf_concentration_cuda)                     \
  X("vmf_pathwise_derivative", vmf_pathwise_derivative_cuda)         \
  X("vmf_kl", vmf_kl_cuda)                                           \
  X("householder", householder_cuda)                                 \
  X("_householder_backward", _householder_backward_cuda)             \
  X("vmf_log_prob", vmf_log_prob_cuda)                               \
  X("vmf_rsample", vmf_rsample_cuda)                                 \
  X("vmf_rsample_kl", vmf_rsample_kl_cuda)                           \
  X("vmf_rsample_with_correction", vmf_rsample_with_correction_cuda) \
  X("_vmf_rsample_backward", _vmf_rsample_backward_cuda)
