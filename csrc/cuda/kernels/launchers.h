// SPDX-License-Identifier: MIT
// Everything that the ops call: plain functions on device pointers, for float and double. They
// enqueue on `stream` and return the launch's error; nothing waits, nothing is allocated, no device
// memory is read by the host, so all of them can be captured in a CUDA graph. Sizes may be zero.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/functions.h"

namespace svmf {

// Row r = sample * batch + b has mean direction loc[b] and concentration kappa[b]; its random words
// depend on (seed, r).
template <class S>
struct SampleArguments {
  const S* loc;         // [batch, m], unit rows
  const S* kappa;       // [batch]
  const int64_t* seed;  // one number
  S* z;                 // [samples * batch, m]
  S* below;             // [samples * batch], 1 - w, or null
  S* above;             // [samples * batch], 1 + w, or null
  S* kl;                // [batch], KL to the uniform distribution, or null
  int64_t samples;
  int64_t batch;
  int64_t m;
};
template <class S>
cudaError_t launch_vmf_sample(const SampleArguments<S>& arguments, cudaStream_t stream);

}  // namespace svmf
