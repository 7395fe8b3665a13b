// SPDX-License-Identifier: MIT
// CPU ops of the sampler: vmf_rsample, vmf_rsample_kl, vmf_rsample_with_correction and their common
// backward pass; and what the sampling ops of the other families share with them.
//
// z has the shape [*sample_shape, *batch, m]. What the backward pass needs of a row beside z is
// `state` [2, *sample_shape, *batch]: 1-w and 1+w. Without `keep_state` it is empty.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "common/op_checks.h"
#include "cpu/elementwise.h"
#include "cpu/ops.h"
#include "cpu/sampling.h"

namespace svmf::cpu {

namespace {

// Rows are handed out in blocks of this many, so that the grouping into lanes does not depend on
// the threads.
constexpr int64_t kBlockRows = 64;
// Elements of z per task: about 15 us of work forward, as much backward.
constexpr int64_t kForwardGrain = 8192, kBackwardGrain = 16384;
// Below this m the work per row outweighs the work per element.
constexpr int64_t kRowCost = 8;

template <class F>
void for_row_blocks(int64_t rows, int64_t m, int64_t grain, F f) {
  const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  const int64_t block_grain = std::max<int64_t>(1, grain / (kBlockRows * (m + kRowCost)));
  for_ranges(blocks, block_grain, [&](int64_t begin, int64_t end) {
    f(begin * kBlockRows, std::min(rows, end * kBlockRows));
  });
}

// One number for all rows, as the gradient of a sum is: torch expands it.
bool is_one_number(const Tensor& t) {
  for (int64_t i = 0; i < t.dim(); ++i) {
    if (t.stride(i) != 0 && t.size(i) != 1) return false;
  }
  return t.numel() > 0;
}

// `count` values that are one number; filling them here is cheaper than torch's copy of 64.
template <class S>
const S* repeated(const Tensor& number, int64_t count, std::vector<S>* values) {
  values->assign(static_cast<size_t>(count), *data<S>(number));
  return values->data();
}

Sampled sample(const char* op, const Tensor& loc, const Tensor& kappa, const Tensor& seed,
               const std::vector<int64_t>& sample_shape, bool keep_state) {
  return draw_samples(Family::kVonMisesFisher, op, loc, kappa, seed, sample_shape, keep_state);
}

}  // namespace

Sampled draw_samples(Family family, const char* op, const Tensor& loc, const Tensor& kappa,
                     const Tensor& seed, const std::vector<int64_t>& sample_shape, bool keep_state,
                     const char* name) {
  check_sample(op, loc, kappa, seed, name);
  check_sample_shape(op, sample_shape, loc);
  const Tensor locs = to_compute_type(loc), kappas = to_compute_type(kappa);
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const Tensor z = empty_tensor(shape_of(sample_shape, loc), locs);
  const Tensor state = empty_tensor(state_shape(sample_shape, kappa, keep_state), locs);
  const int64_t rows = batch == 0 ? 0 : z.numel() / m;
  with_compute_type(locs, [&](auto type) {
    using S = decltype(type);
    S* kept = keep_state ? mutable_data<S>(state) : nullptr;
    const SampleArguments<S> task{data<S>(locs),
                                  data<S>(kappas),
                                  data<int64_t>(seed),
                                  mutable_data<S>(z),
                                  kept,
                                  keep_state ? kept + rows : nullptr,
                                  nullptr,
                                  batch == 0 ? 0 : rows / batch,
                                  batch,
                                  m,
                                  family};
    for_row_blocks(rows, m, kForwardGrain, [&](int64_t begin, int64_t end) {
      row_kernels<S>().vmf_sample(task, begin, end);
    });
  });
  return {to_result_type(z, loc.scalar_type()), state};
}

TwoTensors vmf_rsample(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                       std::vector<int64_t> sample_shape, int64_t /*gradient*/, bool keep_state) {
  const Sampled s = sample("vmf_rsample", loc, kappa, seed, sample_shape, keep_state);
  return {s.z, s.state};
}

ThreeTensors vmf_rsample_kl(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                            std::vector<int64_t> sample_shape, int64_t /*gradient*/,
                            bool keep_state) {
  const Sampled s = sample("vmf_rsample_kl", loc, kappa, seed, sample_shape, keep_state);
  const int64_t m = loc.size(loc.dim() - 1);
  const Tensor kl =
      map_elements(kappa, [m](const auto& kernels, const auto* in, auto* out, int64_t n) {
        kernels.vmf_kappa(KappaFunction::kKlUniform, in, out, n, m);
      });
  return {s.z, kl, s.state};
}

ThreeTensors vmf_rsample_with_correction(const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                                         std::vector<int64_t> sample_shape, bool keep_state) {
  const Sampled s =
      sample("vmf_rsample_with_correction", loc, kappa, seed, sample_shape, keep_state);
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
  const bool same_kl = grad_kl && !is_half_type(grad_kl->scalar_type()) && is_one_number(*grad_kl);
  const Tensor kl = !grad_kl ? kappas : same_kl ? *grad_kl : to_compute_type(*grad_kl);
  const Tensor ratio = grad_log_ratio ? to_compute_type(*grad_log_ratio) : kappas;
  const Tensor grad_loc = empty_like_contiguous(locs), grad_kappa = empty_like_contiguous(kappas);
  const int64_t m = loc.size(loc.dim() - 1), batch = kappa.numel();
  const int64_t samples = batch == 0 ? 0 : z.numel() / (m * batch);
  with_compute_type(locs, [&](auto type) {
    using S = decltype(type);
    const S* kept = data<S>(states);
    std::vector<S> repeated_kl;
    const S* const kl_values = same_kl ? repeated(kl, batch, &repeated_kl) : data<S>(kl);
    const SampleBackwardArguments<S> task{data<S>(grads),
                                          grad_kl ? kl_values : nullptr,
                                          grad_log_ratio ? data<S>(ratio) : nullptr,
                                          data<S>(zs),
                                          kept,
                                          kept + samples * batch,
                                          data<S>(locs),
                                          data<S>(kappas),
                                          mutable_data<S>(grad_loc),
                                          mutable_data<S>(grad_kappa),
                                          samples,
                                          batch,
                                          m,
                                          static_cast<SampleGradient>(gradient),
                                          family};
    for_row_blocks(batch, m, std::max<int64_t>(1, kBackwardGrain / std::max<int64_t>(1, samples)),
                   [&](int64_t begin, int64_t end) {
                     row_kernels<S>().vmf_sample_backward(task, begin, end);
                   });
  });
  return {to_result_type(grad_loc, loc.scalar_type()),
          to_result_type(grad_kappa, kappa.scalar_type())};
}

}  // namespace svmf::cpu
