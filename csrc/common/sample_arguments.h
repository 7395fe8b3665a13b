// SPDX-License-Identifier: MIT
// What the sampler's kernels are given, on every device. Row r = sample * batch + b has mean
// direction loc[b] and concentration kappa[b] (spherical Cauchy: rho[b]); its random words depend on
// (seed, r) alone. Tensors are stored as T; the state is of the type that is computed in.
#pragma once

#include <cstdint>

#include "common/functions.h"
#include "common/half_types.h"

namespace svmf {

template <class T>
struct SampleArguments {
  using S = ComputeType<T>;

  const T* loc;         // [batch, m], unit rows
  const T* kappa;       // [batch]
  const int64_t* seed;  // one number
  T* z;                 // [samples * batch, m]
  S* below;             // [samples * batch], 1 - w, or null
  S* above;             // [samples * batch], 1 + w, or null
  T* kl;                // [batch], KL to the uniform distribution, or null; on CUDA
  int64_t samples;
  int64_t batch;
  int64_t m;
  Family family = Family::kVonMisesFisher;
};

template <class T>
struct SampleBackwardArguments {
  using S = ComputeType<T>;

  const T* grad_z;          // [samples * batch, m]
  const T* grad_kl;         // [batch], or null
  const T* grad_log_ratio;  // [samples * batch], or null
  const T* z;               // from here on as in SampleArguments
  const S* below;
  const S* above;
  const T* loc;
  const T* kappa;
  T* grad_loc;    // [batch, m]
  T* grad_kappa;  // [batch]
  int64_t samples;
  int64_t batch;
  int64_t m;
  SampleGradient gradient;  // of the vMF
  Family family = Family::kVonMisesFisher;
};

// Raw features and what becomes of them: csrc/math/features.h. Rows of `raw` and values of
// `raw_kappa` stand `..._stride` apart. Backward turns the gradients in loc and kappa into those in
// the features, in place.
template <class S>
struct FeatureArguments {
  const S* raw;        // [batch, m], vectors of any length
  const S* raw_kappa;  // [batch]
  int64_t raw_stride;
  int64_t raw_kappa_stride;
  S offset;       // kappa = offset + softplus(raw_kappa)
  S* loc;         // [batch, m]; backward: given
  S* kappa;       // [batch]
  S* length;      // [batch], |raw|; backward: given
  S* grad;        // [batch, m]; backward
  S* grad_kappa;  // [batch]; backward
  int64_t batch;
  int64_t m;
};

}  // namespace svmf
