// SPDX-License-Identifier: MIT
// CUDA ops of the spherical Cauchy distribution. Shapes and state of the samples are those of
// csrc/cpu/vmf_sample.cpp.
#include "common/op_checks.h"
#include "cuda/elementwise.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"
#include "cuda/sampling.h"

namespace svmf::cuda {

namespace {

Tensor function_of_rho(const char* op, RhoFunction function, const Tensor& rho, int64_t dim) {
  check_function_of_dim(op, "rho", rho, dim);
  return map_elements(op, rho, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_family_function(function, in, out, n, dim, stream);
  });
}

}  // namespace

#define SVMF_RHO_OP(name, function)                                 \
  Tensor name(const Tensor& rho, int64_t dim) {                     \
    return function_of_rho(#name, RhoFunction::function, rho, dim); \
  }
#include "common/ops.inc"

Tensor spherical_cauchy_log_prob(const Tensor& value, const Tensor& loc, const Tensor& rho) {
  constexpr const char* op = "spherical_cauchy_log_prob";
  check_log_prob(op, value, loc, rho, "rho");
  const Tensor xs = to_contiguous(value), locs = to_contiguous(loc),
               parameters = to_contiguous(rho);
  const Tensor out = empty_like_contiguous(parameters);
  const int64_t m = value.size(value.dim() - 1);
  launch_stored(op, xs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_family_log_prob(Family::kSphericalCauchy, data<T>(xs), data<T>(locs),
                                  data<T>(parameters), mutable_data<T>(out), parameters.numel(), m,
                                  stream);
  });
  return out;
}

TwoTensors spherical_cauchy_rsample(const Tensor& loc, const Tensor& rho, const Tensor& seed,
                                    std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kSphericalCauchy, "spherical_cauchy_rsample", loc, rho,
                                 seed, sample_shape, keep_state, false, "rho");
  return {s.z, s.state};
}

ThreeTensors spherical_cauchy_rsample_kl(const Tensor& loc, const Tensor& rho, const Tensor& seed,
                                         std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kSphericalCauchy, "spherical_cauchy_rsample_kl", loc, rho,
                                 seed, sample_shape, keep_state, false, "rho");
  return {s.z, spherical_cauchy_kl_uniform(rho, loc.size(loc.dim() - 1)), s.state};
}

TwoTensors spherical_cauchy_rsample_backward(const Tensor& grad_z, std::optional<Tensor> grad_kl,
                                             const Tensor& z, const Tensor& state,
                                             const Tensor& loc, const Tensor& rho) {
  return differentiate_samples(Family::kSphericalCauchy, "_spherical_cauchy_rsample_backward",
                               grad_z, grad_kl, std::nullopt, z, state, loc, rho, 0, "rho");
}

}  // namespace svmf::cuda
