// SPDX-License-Identifier: MIT
// CUDA ops of the sampler: vmf_rsample, vmf_rsample_kl, vmf_rsample_with_correction and their
// common backward pass; and what the sampling ops of the other families share with them. Shapes and state are those of csrc/cpu/vmf_sample.cpp. The seed stays on
// the device.
#include "common/op_checks.h"
#include "cuda/device.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"
#include "cuda/sampling.h"

namespace svmf::cuda {

namespace {

template <class S>
cudaError_t launch_sample(const SampleArguments<S>& arguments, cudaStream_t stream) {
  switch (arguments.family) {
    case Family::kSphericalCauchy:
      return launch_spherical_cauchy_sample(arguments, stream);
    case Family::kPowerSpherical:
      return launch_power_spherical_sample(arguments, stream);
    default:
      return launch_vmf_sample(arguments, stream);
  }
}

template <class S>
cudaError_t launch_sample_backward(const SampleBackwardArguments<S>& arguments,
                                   cudaStream_t stream) {
  switch (arguments.family) {
    case Family::kSphericalCauchy:
      return launch_spherical_cauchy_sample_backward(arguments, stream);
    case Family::kPowerSpherical:
      return launch_power_spherical_sample_backward(arguments, stream);
    default:
      return launch_vmf_sample_backward(arguments, stream);
  }
}

Sampled sample(const char* op, const Tensor& loc, const Tensor& kappa, const Tensor& seed,
               const std::vector<int64_t>& sample_shape, bool keep_state, const Tensor* kl) {
  return draw_samples(Family::kVonMisesFisher, op, loc, kappa, seed, sample_shape, keep_state, kl);
}

}  // namespace

Sampled draw_samples(Family family, const char* op, const Tensor& loc, const Tensor& kappa,
                     const Tensor& seed, const std::vector<int64_t>& sample_shape, bool keep_state,
                     const Tensor* kl, const char* name) {
  check_sample(op, loc, kappa, seed, name);
  check_sample_shape(op, sample_shape, loc);
  const Tensor locs = to_compute_type(loc), kappas = to_compute_type(kappa);
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const Tensor z = empty_tensor(shape_of(sample_shape, loc), locs);
  const Tensor state = empty_tensor(state_shape(sample_shape, kappa, keep_state), locs);
  const int64_t samples = batch == 0 ? 0 : z.numel() / (m * batch);
  launch_on_device(op, locs, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    S* const kept = keep_state ? mutable_data<S>(state) : nullptr;
    return launch_sample(
        SampleArguments<S>{data<S>(locs), data<S>(kappas), data<int64_t>(seed), mutable_data<S>(z),
                           kept, keep_state ? kept + samples * batch : nullptr,
                           kl ? mutable_data<S>(*kl) : nullptr, samples, batch, m, family},
        stream);
  });
  return {to_result_type(z, loc.scalar_type()), state};
}

TwoTensors vmf_rsample(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                       std::vector<int64_t> sample_shape, int64_t /*gradient*/, bool keep_state) {
  const Sampled s = sample("vmf_rsample", loc, kappa, seed, sample_shape, keep_state, nullptr);
  return {s.z, s.state};
}

ThreeTensors vmf_rsample_kl(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                            std::vector<int64_t> sample_shape, int64_t /*gradient*/,
                            bool keep_state) {
  constexpr const char* op = "vmf_rsample_kl";
  check_sample(op, loc, kappa, seed);  // before kl is made
  const Tensor kl = empty_like_contiguous(to_compute_type(kappa));
  const Sampled s = sample(op, loc, kappa, seed, sample_shape, keep_state, &kl);
  return {s.z, to_result_type(kl, kappa.scalar_type()), s.state};
}

ThreeTensors vmf_rsample_with_correction(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                         std::vector<int64_t> sample_shape, bool keep_state) {
  constexpr const char* op = "vmf_rsample_with_correction";
  const Sampled s = sample(op, loc, kappa, seed, sample_shape, keep_state, nullptr);
  Tensor log_ratio = empty_tensor(shape_of(sample_shape, kappa), s.z);
  torch::stable::zero_(log_ratio);
  return {s.z, log_ratio, s.state};
}

TwoTensors vmf_rsample_backward(const Tensor& grad_z, std::optional<Tensor> grad_kl,
                                std::optional<Tensor> grad_log_ratio, const Tensor& z,
                                const Tensor& state, const Tensor& loc, const Tensor& kappa,
                                int64_t gradient) {
  return differentiate_samples(Family::kVonMisesFisher, "_vmf_rsample_backward", grad_z, grad_kl,
                               grad_log_ratio, z, state, loc, kappa, gradient);
}

TwoTensors differentiate_samples(Family family, const char* op, const Tensor& grad_z,
                                 const std::optional<Tensor>& grad_kl,
                                 const std::optional<Tensor>& grad_log_ratio, const Tensor& z,
                                 const Tensor& state, const Tensor& loc, const Tensor& kappa,
                                 int64_t gradient, const char* name) {
  check_sample_backward(op, grad_z, z, state, loc, kappa, name);
  check_sample_gradients(op, grad_kl, grad_log_ratio, z, kappa, gradient, name);
  const Tensor grads = to_compute_type(grad_z), zs = to_compute_type(z),
               states = to_compute_type(state);
  const Tensor locs = to_compute_type(loc), kappas = to_compute_type(kappa);
  const Tensor kl = grad_kl ? to_compute_type(*grad_kl) : kappas;
  const Tensor ratio = grad_log_ratio ? to_compute_type(*grad_log_ratio) : kappas;
  const Tensor grad_loc = empty_like_contiguous(locs), grad_kappa = empty_like_contiguous(kappas);
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const int64_t samples = batch == 0 ? 0 : z.numel() / (m * batch);
  launch_on_device(op, locs, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    const S* const kept = data<S>(states);
    return launch_sample_backward(
        SampleBackwardArguments<S>{data<S>(grads), grad_kl ? data<S>(kl) : nullptr,
                                   grad_log_ratio ? data<S>(ratio) : nullptr, data<S>(zs), kept,
                                   kept + samples * batch, data<S>(locs), data<S>(kappas),
                                   mutable_data<S>(grad_loc), mutable_data<S>(grad_kappa), samples,
                                   batch, m, static_cast<SampleGradient>(gradient), family},
        stream);
  });
  return {to_result_type(grad_loc, loc.scalar_type()),
          to_result_type(grad_kappa, kappa.scalar_type())};
}

}  // namespace svmf::cuda
