// SPDX-License-Identifier: MIT
// CUDA ops of the power spherical distribution. Shapes and state of the samples are those of
// csrc/cpu/vmf_sample.cpp.
#include "common/op_checks.h"
#include "cuda/elementwise.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"
#include "cuda/sampling.h"

namespace svmf::cuda {

namespace {

Tensor function_of_kappa(const char* op, PowerFunction function, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(op, kappa, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_family_function(function, in, out, n, dim, stream);
  });
}

}  // namespace

#define SVMF_POWER_OP(name, function)                                     \
  Tensor name(const Tensor& kappa, int64_t dim) {                         \
    return function_of_kappa(#name, PowerFunction::function, kappa, dim); \
  }
#include "common/ops.inc"

Tensor power_spherical_log_prob(const Tensor& value, const Tensor& loc, const Tensor& kappa) {
  constexpr const char* op = "power_spherical_log_prob";
  check_log_prob(op, value, loc, kappa);
  const Tensor xs = to_contiguous(value), locs = to_contiguous(loc),
               parameters = to_contiguous(kappa);
  const Tensor out = empty_like_contiguous(parameters);
  const int64_t m = value.size(value.dim() - 1);
  launch_stored(op, xs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    return launch_family_log_prob(Family::kPowerSpherical, data<T>(xs), data<T>(locs),
                                  data<T>(parameters), mutable_data<T>(out), parameters.numel(), m,
                                  stream);
  });
  return out;
}

TwoTensors power_spherical_rsample(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                   std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kPowerSpherical, "power_spherical_rsample", loc, kappa,
                                 seed, sample_shape, keep_state, false);
  return {s.z, s.state};
}

ThreeTensors power_spherical_rsample_kl(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                        std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kPowerSpherical, "power_spherical_rsample_kl", loc, kappa,
                                 seed, sample_shape, keep_state, false);
  return {s.z, power_spherical_kl_uniform(kappa, loc.size(loc.dim() - 1)), s.state};
}

TwoTensors power_spherical_rsample_backward(const Tensor& grad_z, std::optional<Tensor> grad_kl,
                                            const Tensor& z, const Tensor& state, const Tensor& loc,
                                            const Tensor& kappa) {
  return differentiate_samples(Family::kPowerSpherical, "_power_spherical_rsample_backward", grad_z,
                               grad_kl, std::nullopt, z, state, loc, kappa, 0);
}

}  // namespace svmf::cuda
