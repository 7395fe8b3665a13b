// SPDX-License-Identifier: MIT
// CPU ops of the power spherical distribution. Shapes and state of the samples are those of
// csrc/cpu/vmf_sample.cpp.
#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"
#include "cpu/sampling.h"

namespace svmf::cpu {

namespace {

Tensor function_of_kappa(const char* op, PowerFunction function, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(kappa, [=](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.power_spherical(function, in, out, n, dim);
  });
}

}  // namespace

#define SVMF_POWER_OP(name, function)                                     \
  Tensor name(const Tensor& kappa, int64_t dim) {                         \
    return function_of_kappa(#name, PowerFunction::function, kappa, dim); \
  }
#include "common/ops.inc"

Tensor power_spherical_log_prob(const Tensor& value, const Tensor& loc, const Tensor& kappa) {
  check_log_prob("power_spherical_log_prob", value, loc, kappa);
  return log_prob_of_rows(value, loc, kappa,
                          [](const auto& kernels) { return kernels.power_spherical_log_prob; });
}

TwoTensors power_spherical_rsample(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                   std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kPowerSpherical, "power_spherical_rsample", loc, kappa,
                                 seed, sample_shape, keep_state);
  return {s.z, s.state};
}

ThreeTensors power_spherical_rsample_kl(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                        std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kPowerSpherical, "power_spherical_rsample_kl", loc, kappa,
                                 seed, sample_shape, keep_state);
  return {s.z, power_spherical_kl_uniform(kappa, loc.size(loc.dim() - 1)), s.state};
}

TwoTensors power_spherical_rsample_backward(const Tensor& grad_z, std::optional<Tensor> grad_kl,
                                            const Tensor& z, const Tensor& state, const Tensor& loc,
                                            const Tensor& kappa) {
  return differentiate_samples(Family::kPowerSpherical, "_power_spherical_rsample_backward", grad_z,
                               grad_kl, std::nullopt, z, state, loc, kappa, 0);
}

}  // namespace svmf::cpu
