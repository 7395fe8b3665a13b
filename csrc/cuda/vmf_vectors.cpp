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
  const Tensor l1 = to_contiguous(loc1), l2 = to_contiguous(loc2);
  const Tensor k1 = to_contiguous(kappa1), k2 = to_contiguous(kappa2),
               out = empty_like_contiguous(k1);
  const int64_t m = loc1.size(loc1.dim() - 1);
  launch_stored(op, l1, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_vmf_kl(data<T>(l1), data<T>(k1), data<T>(l2), data<T>(k2), mutable_data<T>(out),
                         k1.numel(), m, stream);
  });
  return out;
}

Tensor householder(const Tensor& x, const Tensor& loc) {
  constexpr const char* op = "householder";
  check_householder(op, x, loc);
  const Tensor xs = to_contiguous(x), locs = to_contiguous(loc), out = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  launch_stored(op, xs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_householder(data<T>(xs), data<T>(locs), mutable_data<T>(out), xs.numel() / m, m,
                              stream);
  });
  return out;
}

TwoTensors householder_backward(const Tensor& grad, const Tensor& x, const Tensor& loc) {
  constexpr const char* op = "_householder_backward";
  check_householder_backward(op, grad, x, loc);
  const Tensor grads = to_contiguous(grad), xs = to_contiguous(x), locs = to_contiguous(loc);
  const Tensor grad_x = empty_like_contiguous(xs), grad_loc = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  launch_stored(op, xs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_householder_backward(data<T>(grads), data<T>(xs), data<T>(locs),
                                       mutable_data<T>(grad_x), mutable_data<T>(grad_loc),
                                       xs.numel() / m, m, stream);
  });
  return {grad_x, grad_loc};
}

Tensor vmf_log_prob(const Tensor& value, const Tensor& loc, const Tensor& kappa) {
  constexpr const char* op = "vmf_log_prob";
  check_log_prob(op, value, loc, kappa);
  const Tensor xs = to_contiguous(value), locs = to_contiguous(loc), kappas = to_contiguous(kappa);
  const Tensor out = empty_like_contiguous(kappas);
  const int64_t m = value.size(value.dim() - 1);
  launch_stored(op, xs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_vmf_log_prob(data<T>(xs), data<T>(locs), data<T>(kappas), mutable_data<T>(out),
                               kappas.numel(), m, stream);
  });
  return out;
}

}  // namespace svmf::cuda
