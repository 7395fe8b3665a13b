// SPDX-License-Identifier: MIT
// The tensors between raw features and the sampler, on every device: csrc/math/features.h.
#pragma once

#include "common/sample_arguments.h"
#include "common/tensors.h"

namespace svmf {

// The distance of neighbours if the first `dims` dimensions are one run of equal steps; else -1.
inline int64_t equal_steps(const Tensor& t, int64_t dims) {
  int64_t step = 0, next = -1;
  for (int64_t i = dims - 1; i >= 0; --i) {
    if (t.size(i) == 1) continue;
    if (next < 0)
      step = t.stride(i);
    else if (t.stride(i) != next)
      return -1;
    next = t.stride(i) * t.size(i);
  }
  return step;
}

// The tensor itself if its rows can be read where they stand, as those of torch.split can.
inline Tensor readable_rows(const Tensor& t, int64_t batch_dims) {
  const bool whole_rows = t.dim() == batch_dims || t.stride(batch_dims) == 1;
  const bool as_it_is =
      !is_half_type(t.scalar_type()) && whole_rows && equal_steps(t, batch_dims) >= 0;
  return as_it_is ? t : to_compute_type(t);
}

// Raw features, and room for what is made of them: loc [*batch, m], kappa and |raw| [*batch].
struct FeatureRows {
  Tensor raw, raw_kappa, loc, kappa, length;
  double offset;

  FeatureRows(const Tensor& features, const Tensor& raw_concentration, double offset_)
      : raw(readable_rows(features, raw_concentration.dim())),
        raw_kappa(readable_rows(raw_concentration, raw_concentration.dim())),
        loc(empty_like_contiguous(raw)),
        kappa(empty_like_contiguous(raw_kappa)),
        length(empty_like_contiguous(raw_kappa)),
        offset(offset_) {}

  // With the gradients for the backward pass.
  template <class S>
  FeatureArguments<S> arguments(const Tensor* grad, const Tensor* grad_kappa) const {
    return {data<S>(raw),
            data<S>(raw_kappa),
            equal_steps(raw, kappa.dim()),
            equal_steps(raw_kappa, kappa.dim()),
            static_cast<S>(offset),
            mutable_data<S>(loc),
            mutable_data<S>(kappa),
            mutable_data<S>(length),
            grad ? mutable_data<S>(*grad) : nullptr,
            grad_kappa ? mutable_data<S>(*grad_kappa) : nullptr,
            kappa.numel(),
            loc.size(loc.dim() - 1)};
  }
};

}  // namespace svmf
