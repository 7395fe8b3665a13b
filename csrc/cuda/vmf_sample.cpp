// SPDX-License-Identifier: MIT
// CUDA ops of the sampler: vmf_rsample, vmf_rsample_kl, vmf_rsample_with_correction and their
// common backward pass; and what the sampling ops of the other families share with them. Shapes and
// state are those of csrc/cpu/vmf_sample.cpp. The seed stays on the device.
#include "common/op_checks.h"
#include "cuda/device.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"
#include "cuda/sampling.h"

namespace svmf::cuda {

namespace {

// As the kernels take it: as it is, or wide.
Tensor prepare(const Tensor& t, bool takes_halves) {
  return takes_halves ? to_contiguous(t) : to_compute_type(t);
}

Sampled sample(const char* op, const Tensor& loc, const Tensor& kappa, const Tensor& seed,
               const std::vector<int64_t>& sample_shape, bool keep_state, bool with_kl) {
  return draw_samples(Family::kVonMisesFisher, op, loc, kappa, seed, sample_shape, keep_state,
                      with_kl);
}

}  // namespace

Sampled draw_samples(Family family, const char* op, const Tensor& loc, const Tensor& kappa,
                     const Tensor& seed, const std::vector<int64_t>& sample_shape, bool keep_state,
                     bool with_kl, const char* name) {
  check_sample(op, loc, kappa, seed, name);
  check_sample_shape(op, sample_shape, loc);
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const bool takes_halves = sample_takes_halves(m);
  const Tensor locs = prepare(loc, takes_halves), kappas = prepare(kappa, takes_halves);
  const Tensor z = empty_tensor(shape_of(sample_shape, loc), locs);
  const Tensor kl = with_kl ? empty_like_contiguous(kappas) : kappas;
  const Tensor state = empty_of_compute_type(state_shape(sample_shape, kappa, keep_state), locs);
  const int64_t samples = batch == 0 ? 0 : z.numel() / (m * batch);
  launch_stored(op, locs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    using S = ComputeType<T>;
    S* const kept = keep_state ? mutable_data<S>(state) : nullptr;
    const SampleArguments<T> task{data<T>(locs),
                                  data<T>(kappas),
                                  data<int64_t>(seed),
                                  mutable_data<T>(z),
                                  kept,
                                  keep_state ? kept + samples * batch : nullptr,
                                  with_kl ? mutable_data<T>(kl) : nullptr,
                                  samples,
                                  batch,
                                  m,
                                  family};
    return family == Family::kVonMisesFisher ? launch_vmf_sample(task, stream)
                                             : launch_family_sample(task, stream);
  });
  return {to_result_type(z, loc.scalar_type()),
          with_kl ? to_result_type(kl, kappa.scalar_type()) : kl, state};
}

TwoTensors vmf_rsample(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                       std::vector<int64_t> sample_shape, int64_t /*gradient*/, bool keep_state) {
  const Sampled s = sample("vmf_rsample", loc, kappa, seed, sample_shape, keep_state, false);
  return {s.z, s.state};
}

ThreeTensors vmf_rsample_kl(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                            std::vector<int64_t> sample_shape, int64_t /*gradient*/,
                            bool keep_state) {
  constexpr const char* op = "vmf_rsample_kl";
  const Sampled s = sample(op, loc, kappa, seed, sample_shape, keep_state, true);
  return {s.z, s.kl, s.state};
}

ThreeTensors vmf_rsample_with_correction(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                         std::vector<int64_t> sample_shape, bool keep_state) {
  constexpr const char* op = "vmf_rsample_with_correction";
  const Sampled s = sample(op, loc, kappa, seed, sample_shape, keep_state, false);
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
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const int64_t samples = batch == 0 ? 0 : z.numel() / (m * batch);
  const bool takes_halves = sample_backward_takes_halves(samples, m);
  const Tensor grads = prepare(grad_z, takes_halves), zs = prepare(z, takes_halves),
               states = to_contiguous(state);
  const Tensor locs = prepare(loc, takes_halves), kappas = prepare(kappa, takes_halves);
  const Tensor kl = grad_kl ? prepare(*grad_kl, takes_halves) : kappas;
  const Tensor ratio = grad_log_ratio ? prepare(*grad_log_ratio, takes_halves) : kappas;
  const Tensor grad_loc = empty_like_contiguous(locs), grad_kappa = empty_like_contiguous(kappas);
  launch_stored(op, locs, [&](auto type, cudaStream_t stream) {
    using T = decltype(type);
    const ComputeType<T>* const kept = data<ComputeType<T>>(states);
    const SampleBackwardArguments<T> task{data<T>(grads),
                                          grad_kl ? data<T>(kl) : nullptr,
                                          grad_log_ratio ? data<T>(ratio) : nullptr,
                                          data<T>(zs),
                                          kept,
                                          kept + samples * batch,
                                          data<T>(locs),
                                          data<T>(kappas),
                                          mutable_data<T>(grad_loc),
                                          mutable_data<T>(grad_kappa),
                                          samples,
                                          batch,
                                          m,
                                          static_cast<SampleGradient>(gradient),
                                          family};
    return family == Family::kVonMisesFisher ? launch_vmf_sample_backward(task, stream)
                                             : launch_family_sample_backward(task, stream);
  });
  return {to_result_type(grad_loc, loc.scalar_type()),
          to_result_type(grad_kappa, kappa.scalar_type())};
}

}  // namespace svmf::cuda
