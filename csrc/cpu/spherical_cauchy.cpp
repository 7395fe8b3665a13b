// SPDX-License-Identifier: MIT
// CPU ops of the spherical Cauchy distribution. Shapes and state of the samples are those of
// csrc/cpu/vmf_sample.cpp.
#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"
#include "cpu/sampling.h"

namespace svmf::cpu {

namespace {

Tensor function_of_rho(const char* op, RhoFunction function, const Tensor& rho, int64_t dim) {
  check_function_of_dim(op, "rho", rho, dim);
  return map_elements(rho, [=](const auto& kernels, const auto* in, auto* out, int64_t n) {
    kernels.spherical_cauchy(function, in, out, n, dim);
  });
}

}  // namespace

#define SVMF_RHO_OP(name, function)                                 \
  Tensor name(const Tensor& rho, int64_t dim) {                     \
    return function_of_rho(#name, RhoFunction::function, rho, dim); \
  }
#include "common/ops.inc"

Tensor spherical_cauchy_log_prob(const Tensor& value, const Tensor& loc, const Tensor& rho) {
  check_log_prob("spherical_cauchy_log_prob", value, loc, rho, "rho");
  return log_prob_of_rows(value, loc, rho,
                          [](const auto& kernels) { return kernels.spherical_cauchy_log_prob; });
}

TwoTensors spherical_cauchy_rsample(const Tensor& loc, const Tensor& rho, const Tensor& seed,
                                    std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kSphericalCauchy, "spherical_cauchy_rsample", loc, rho,
                                 seed, sample_shape, keep_state, "rho");
  return {s.z, s.state};
}

ThreeTensors spherical_cauchy_rsample_kl(const Tensor& loc, const Tensor& rho, const Tensor& seed,
                                         std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s = draw_samples(Family::kSphericalCauchy, "spherical_cauchy_rsample_kl", loc, rho,
                                 seed, sample_shape, keep_state, "rho");
  return {s.z, spherical_cauchy_kl_uniform(rho, loc.size(loc.dim() - 1)), s.state};
}

TwoTensors spherical_cauchy_rsample_backward(const Tensor& grad_z, std::optional<Tensor> grad_kl,
                                             const Tensor& z, const Tensor& state,
                                             const Tensor& loc, const Tensor& rho) {
  return differentiate_samples(Family::kSphericalCauchy, "_spherical_cauchy_rsample_backward",
                               grad_z, grad_kl, std::nullopt, z, state, loc, rho, 0, "rho");
}

}  // namespace svmf::cpu
