// SPDX-License-Identifier: MIT
// Names of the function that an elementwise kernel evaluates, shared by the ops, the row kernels
// and the device.
#pragma once

namespace svmf {

// Functions of kappa for one m: csrc/math/vmf_kappa.h.
enum class KappaFunction : int {
  kMeanLength,
  kMeanLengthComplement,
  kMeanLengthGrad,
  kMeanLengthGrad2,
  kKlUniform,
  kKlUniformGrad,
  kKlUniformGrad2,
  kLogPartition,
  kLogNorm,
  kEntropy,
};

// Functions of a Bessel order and x: csrc/math/log_bessel.h.
enum class BesselFunction : int {
  kLogIv,
  kLogIve,
  kIvRatio,
  kIvRatioGrad,
};

// How a sample depends on kappa for the gradient: csrc/math/vmf_pathwise.h,
// csrc/math/wood_gradients.h.
enum class SampleGradient : int {
  kPathwise,
  kRejection,
};

}  // namespace svmf
