// SPDX-License-Identifier: MIT
// CUDA ops of the sampler from raw features, as csrc/cpu/vmf_features.cpp.
#include "common/feature_rows.h"
#include "common/op_checks.h"
#include "cuda/device.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"
#include "cuda/sampling.h"

namespace svmf::cuda {

namespace {

FeatureRows convert(const char* op, const Tensor& features, const Tensor& raw_concentration,
                    double offset) {
  const FeatureRows rows(features, raw_concentration, offset);
  launch_stored(op, rows.loc, [&](auto type, cudaStream_t stream) {
    using S = ComputeType<decltype(type)>;  // half types have been widened
    return launch_vmf_features(rows.arguments<S>(nullptr, nullptr), stream);
  });
  return rows;
}

}  // namespace

ThreeTensors vmf_rsample_kl_from_features(const Tensor& features, const Tensor& raw_concentration,
                                          const Tensor& seed, std::vector<int64_t> sample_shape,
                                          int64_t gradient, double offset, bool keep_state) {
  constexpr const char* kOp = "vmf_rsample_kl_from_features";
  check_features(kOp, features, raw_concentration, seed, sample_shape, offset);
  const FeatureRows rows = convert(kOp, features, raw_concentration, offset);
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
  const FeatureRows rows = convert(kOp, features, raw_concentration, offset);
  if (grad_kl && is_half_type(grad_kl->scalar_type())) grad_kl = to_compute_type(*grad_kl);
  const auto [grad_loc, grad_kappa] = differentiate_samples(
      Family::kVonMisesFisher, kOp, to_compute_type(grad_z), grad_kl, std::nullopt,
      to_compute_type(z), state, rows.loc, rows.kappa, gradient);
  launch_stored(kOp, rows.loc, [&](auto type, cudaStream_t stream) {
    using S = ComputeType<decltype(type)>;
    return launch_vmf_features_backward(rows.arguments<S>(&grad_loc, &grad_kappa), stream);
  });
  const ScalarType type = features.scalar_type();
  return {to_result_type(grad_loc, type), to_result_type(grad_kappa, type)};
}

}  // namespace svmf::cuda
