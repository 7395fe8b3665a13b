// SPDX-License-Identifier: MIT
// What the sampling ops of all families share on CUDA: csrc/cuda/vmf_sample.cpp.
#pragma once

#include <optional>
#include <vector>

#include "common/functions.h"
#include "common/op_types.h"

namespace svmf::cuda {

struct Sampled {
  Tensor z, kl, state;  // kl: [*batch], for the op that wants it
};

// `name` is what the op calls its second parameter. KL: the vMF alone.
Sampled draw_samples(Family family, const char* op, const Tensor& loc, const Tensor& kappa,
                     const Tensor& seed, const std::vector<int64_t>& sample_shape, bool keep_state,
                     bool with_kl, const char* name = "kappa");

TwoTensors differentiate_samples(Family family, const char* op, const Tensor& grad_z,
                                 const std::optional<Tensor>& grad_kl,
                                 const std::optional<Tensor>& grad_log_ratio, const Tensor& z,
                                 const Tensor& state, const Tensor& loc, const Tensor& kappa,
                                 int64_t gradient, const char* name = "kappa");

}  // namespace svmf::cuda
