// SPDX-License-Identifier: MIT
// What the sampler's kernels are given, on every device. Row r = sample * batch + b has mean
// direction loc[b] and concentration kappa[b] (spherical Cauchy: rho[b]); its random words depend on
// (seed, r) alone.
#pragma once

#include <cstdint>

#include "common/functions.h"

namespace svmf {

template <class S>
struct SampleArguments {
  const S* loc;         // [batch, m], unit rows
  const S* kappa;       // [batch]
  const int64_t* seed;  // one number
  S* z;                 // [samples * batch, m]
  S* below;             // [samples * batch], 1 - w, or null
  S* above;             // [samples * batch], 1 + w, or null
  S* kl;                // [batch], KL to the uniform distribution, or null; on CUDA
  int64_t samples;
  int64_t batch;
  int64_t m;
  Family family = Family::kVonMisesFisher;
};

template <class S>
struct SampleBackwardArguments {
  const S* grad_z;          // [samples * batch, m]
  const S* grad_kl;         // [batch], or null
  const S* grad_log_ratio;  // [samples * batch], or null
  const S* z;               // from here on as in SampleArguments
  const S* below;
  const S* above;
  const S* loc;
  const S* kappa;
  S* grad_loc;    // [batch, m]
  S* grad_kappa;  // [batch]
  int64_t samples;
  int64_t batch;
  int64_t m;
  SampleGradient gradient;  // of the vMF
  Family family = Family::kVonMisesFisher;
};

}  // namespace svmf
