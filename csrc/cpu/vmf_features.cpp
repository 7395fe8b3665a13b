// SPDX-License-Identifier: MIT
// CPU ops of the sampler from raw features: directions and concentrations (csrc/math/features.h),
// then csrc/cpu/vmf_sample.cpp. They are made again in the backward pass: cheaper than memory.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "common/feature_rows.h"
#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"
#include "cpu/sampling.h"

namespace svmf::cpu {

namespace {

// Rows in parallel: forward, or with gradients backward.
template <class F>
void run(const FeatureRows& rows, F choose, const Tensor* grad = nullptr,
         const Tensor* grad_kappa = nullptr) {
  with_compute_type(rows.loc, [&](auto type) {
    using S = decltype(type);
    const FeatureArguments<S> task = rows.arguments<S>(grad, grad_kappa);
    for_ranges(task.batch, std::min<int64_t>(2048, row_grain(task.m)),
               [&](int64_t begin, int64_t end) { choose(row_kernels<S>())(task, begin, end); });
  });
}

FeatureRows convert(const Tensor& features, const Tensor& raw_concentration, double offset) {
  const FeatureRows rows(features, raw_concentration, offset);
  run(rows, [](const auto& kernels) { return kernels.vmf_features; });
  return rows;
}

}  // namespace

ThreeTensors vmf_rsample_kl_from_features(const Tensor& features, const Tensor& raw_concentration,
                                          const Tensor& seed, std::vector<int64_t> sample_shape,
                                          int64_t gradient, double offset, bool keep_state) {
  check_features("vmf_rsample_kl_from_features", features, raw_concentration, seed, sample_shape,
                 offset);
  const FeatureRows rows = convert(features, raw_concentration, offset);
  const auto [z, kl, state] =
      vmf_rsample_kl(rows.loc, rows.kappa, seed, sample_shape, gradient, keep_state);
  const ScalarType type = features.scalar_type();
  return {to_result_type(z, type), to_result_type(kl, type), state};
}

TwoTensors vmf_rsample_kl_from_features_backward(const Tensor& grad_z,
                                                 std::optional<Tensor> grad_kl, const Tensor& z,
                                                 const Tensor& state, const Tensor& features,
                                                 const Tensor& raw_concentration, int64_t gradient,
                                                 double offset) {
  constexpr const char* kOp = "_vmf_rsample_kl_from_features_backward";
  check_features_backward(kOp, grad_z, grad_kl, z, state, features, raw_concentration, gradient,
                          offset);
  const FeatureRows rows = convert(features, raw_concentration, offset);
  if (grad_kl && is_half_type(grad_kl->scalar_type())) grad_kl = to_compute_type(*grad_kl);
  const auto [grad_loc, grad_kappa] = differentiate_samples(
      Family::kVonMisesFisher, kOp, to_compute_type(grad_z), grad_kl, std::nullopt,
      to_compute_type(z), state, rows.loc, rows.kappa, gradient);
  run(
      rows, [](const auto& kernels) { return kernels.vmf_features_backward; }, &grad_loc,
      &grad_kappa);
  const ScalarType type = features.scalar_type();
  return {to_result_type(grad_loc, type), to_result_type(grad_kappa, type)};
}

}  // namespace svmf::cpu
