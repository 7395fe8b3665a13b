// SPDX-License-Identifier: MIT
// CPU ops on rows of vectors that need no random numbers: the Householder reflection, KL between
// two vMF, and the log density.
#include <algorithm>
#include <tuple>

#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"

namespace svmf::cpu {

Tensor householder(const Tensor& x, const Tensor& loc) {
  check_householder("householder", x, loc);
  const Tensor xs = to_compute_type(x), locs = to_compute_type(loc);
  const Tensor out = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  with_compute_type(xs, [&](auto type) {
    using S = decltype(type);
    const S *in = data<S>(xs), *mu = data<S>(locs);
    S* z = mutable_data<S>(out);
    for_ranges(xs.numel() / m, row_grain(m), [&](int64_t begin, int64_t end) {
      row_kernels<S>().householder(in + begin * m, mu + begin * m, z + begin * m, end - begin, m);
    });
  });
  return to_result_type(out, x.scalar_type());
}

TwoTensors householder_backward(const Tensor& grad, const Tensor& x, const Tensor& loc) {
  check_householder_backward("_householder_backward", grad, x, loc);
  const Tensor grads = to_compute_type(grad), xs = to_compute_type(x), locs = to_compute_type(loc);
  const Tensor grad_x = empty_like_contiguous(xs), grad_loc = empty_like_contiguous(xs);
  const int64_t m = x.size(x.dim() - 1);
  with_compute_type(xs, [&](auto type) {
    using S = decltype(type);
    const S *g = data<S>(grads), *in = data<S>(xs), *mu = data<S>(locs);
    S *gx = mutable_data<S>(grad_x), *gmu = mutable_data<S>(grad_loc);
    for_ranges(xs.numel() / m, row_grain(m), [&](int64_t begin, int64_t end) {
      const int64_t offset = begin * m;
      row_kernels<S>().householder_backward(g + offset, in + offset, mu + offset, gx + offset,
                                            gmu + offset, end - begin, m);
    });
  });
  return {to_result_type(grad_x, x.scalar_type()), to_result_type(grad_loc, x.scalar_type())};
}

Tensor vmf_kl(const Tensor& loc1, const Tensor& kappa1, const Tensor& loc2, const Tensor& kappa2) {
  check_vmf_kl("vmf_kl", loc1, kappa1, loc2, kappa2);
  const Tensor l1 = to_compute_type(loc1), l2 = to_compute_type(loc2);
  const Tensor k1 = to_compute_type(kappa1), k2 = to_compute_type(kappa2);
  const Tensor out = empty_like_contiguous(k1);
  const int64_t m = loc1.size(loc1.dim() - 1);
  with_compute_type(l1, [&](auto type) {
    using S = decltype(type);
    const S *mu1 = data<S>(l1), *mu2 = data<S>(l2), *c1 = data<S>(k1), *c2 = data<S>(k2);
    S* kl = mutable_data<S>(out);
    for_ranges(k1.numel(), std::min<int64_t>(512, row_grain(m)), [&](int64_t begin, int64_t end) {
      row_kernels<S>().vmf_kl(mu1 + begin * m, c1 + begin, mu2 + begin * m, c2 + begin, kl + begin,
                              end - begin, m);
    });
  });
  return to_result_type(out, loc1.scalar_type());
}

Tensor vmf_log_prob(const Tensor& value, const Tensor& loc, const Tensor& kappa) {
  check_log_prob("vmf_log_prob", value, loc, kappa);
  return log_prob_of_rows(value, loc, kappa,
                          [](const auto& kernels) { return kernels.vmf_log_prob; });
}

}  // namespace svmf::cpu
