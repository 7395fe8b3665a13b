// SPDX-License-Identifier: MIT
// CUDA ops on rows of vectors that need no random numbers: KL between two vMF, the Householder
// reflection and the log density.
#include "common/op_checks.h"
#include "cuda/device.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"

namespace svmf::cuda {

Tensor vmf_kl(const Tensor& loc1, const Tensor& kappa1, const Tensor& loc2, const Tensor& kappa2) {
  constexpr const char* op = "vmf_kl";
  check_vmf_kl(op, loc1, kappa1, loc2, kappa2);
  const Tensor l1 = to_compute_type(loc1), l2 = to_compute_type(loc2);
  const Tensor k1 = to_compute_type(kappa1), k2 = to_compute_type(kappa2),
               out = empty_like_contiguous(k1);
  const int64_t m = loc1.size(loc1.dim() - 1);
  launch_on_device(op, l1, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch_vmf_kl(data<S>(l1), data<S>(k1), data<S>(l2), data<S>(k2), mutable_data<S>(out),
                         k1.numel(), m, stream);
  });
  return to_result_type(out, loc1.scalar_type());
}

Tensor householder(const Tensor& x, const Tensor& loc) {
  constexpr const char* op = "householder";
  check_householder(op, x, loc);
  const Tensor xs = to_compute_type(x), locs = to_compute_type(loc),
               out = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  launch_on_device(op, xs, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch_householder(data<S>(xs), data<S>(locs), mutable_data<S>(out), xs.numel() / m, m,
                              stream);
  });
  return to_result_type(out, x.scalar_type());
}

TwoTensors householder_backward(const Tensor& grad, const Tensor& x, const Tensor& loc) {
  constexpr const char* op = "_householder_backward";
  check_householder_backward(op, grad, x, loc);
  const Tensor grads = to_compute_type(grad), xs = to_compute_type(x), locs = to_compute_type(loc);
  const Tensor grad_x = empty_like_contiguous(xs), grad_loc = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  launch_on_device(op, xs, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch_householder_backward(data<S>(grads), data<S>(xs), data<S>(locs),
                                       mutable_data<S>(grad_x), mutable_data<S>(grad_loc),
                                       xs.numel() / m, m, stream);
  });
  return {to_result_type(grad_x, x.scalar_type()), to_result_type(grad_loc, x.scalar_type())};
}

Tensor vmf_log_prob(const Tensor& value, const Tensor& loc, const Tensor& kappa) {
  constexpr const char* op = "vmf_log_prob";
  check_log_prob(op, value, loc, kappa);
  const Tensor xs = to_compute_type(value), locs = to_compute_type(loc),
               kappas = to_compute_type(kappa);
  const Tensor out = empty_like_contiguous(kappas);
  const int64_t m = value.size(value.dim() - 1);
  launch_on_device(op, xs, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch_vmf_log_prob(data<S>(xs), data<S>(locs), data<S>(kappas), mutable_data<S>(out),
                               kappas.numel(), m, stream);
  });
  return to_result_type(out, value.scalar_type());
}

}  // namespace svmf::cuda
