// SPDX-License-Identifier: MIT
// Everything that the ops call: plain functions on device pointers, for float, double and the half
// types, which are computed in float. They enqueue on `stream` and return the launch's error;
// nothing waits, nothing is allocated, no device memory is read by the host, so all of them can be
// captured in a CUDA graph. Sizes may be zero.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/functions.h"
#include "common/half_types.h"
#include "common/sample_arguments.h"
#include "cuda/kernels/tile_plan.h"

namespace svmf {

// out[i] = function(order, x[i]).
template <class T>
cudaError_t launch_log_bessel(BesselFunction function, double order, const T* x, T* out, int64_t n,
                              cudaStream_t stream);
// out[i] = function(order[i], x[i]).
template <class T>
cudaError_t launch_log_bessel_orders(BesselFunction function, const T* order, const T* x, T* out,
                                     int64_t n, cudaStream_t stream);
// out[i] = function(kappa[i]) in R^m.
template <class T>
cudaError_t launch_vmf_kappa(KappaFunction function, const T* kappa, T* out, int64_t n, int64_t m,
                             cudaStream_t stream);
// out[i] = the kappa whose mean length is mean_length[i].
template <class T>
cudaError_t launch_vmf_concentration(const T* mean_length, T* out, int64_t n, int64_t m,
                                     cudaStream_t stream);
// out[i] = dw/dkappa at fixed probability.
template <class T>
cudaError_t launch_vmf_pathwise(const T* w, const T* kappa, T* out, int64_t n, int64_t m,
                                cudaStream_t stream);
// out[i] = KL(vMF(loc1[i], kappa1[i]) || vMF(loc2[i], kappa2[i])), rows of m.
template <class T>
cudaError_t launch_vmf_kl(const T* loc1, const T* kappa1, const T* loc2, const T* kappa2, T* out,
                          int64_t rows, int64_t m, cudaStream_t stream);
// out[i] = log density of vMF(loc[i], kappa[i]) at value[i].
template <class T>
cudaError_t launch_vmf_log_prob(const T* value, const T* loc, const T* kappa, T* out, int64_t rows,
                                int64_t m, cudaStream_t stream);
// z = H x, rows of m; H takes e1 to loc.
template <class T>
cudaError_t launch_householder(const T* x, const T* loc, T* z, int64_t rows, int64_t m,
                               cudaStream_t stream);
template <class T>
cudaError_t launch_householder_backward(const T* grad, const T* x, const T* loc, T* grad_x,
                                        T* grad_loc, int64_t rows, int64_t m, cudaStream_t stream);

// The sampler and its backward pass. Half types are rounded once, so they are taken only where
// nothing stands in z, or in grad_loc, between: the park is shared memory, the sum over samples is
// in registers or has one term.
inline bool sample_takes_halves(int64_t m) { return m <= kMostParkedFloats; }
inline bool sample_backward_takes_halves(int64_t samples, int64_t m) {
  return samples <= 1 || m <= kMostColumnsOfRun;
}
template <class T>
cudaError_t launch_vmf_sample(const SampleArguments<T>& arguments, cudaStream_t stream);
template <class T>
cudaError_t launch_vmf_sample_backward(const SampleBackwardArguments<T>& arguments,
                                       cudaStream_t stream);

// Raw features to mean directions and concentrations; the gradients back, in place.
template <class S>
cudaError_t launch_vmf_features(const FeatureArguments<S>& arguments, cudaStream_t stream);
template <class S>
cudaError_t launch_vmf_features_backward(const FeatureArguments<S>& arguments, cudaStream_t stream);

// The other families. out[i] = function(the concentration) in R^m; the log density; the sampler, for
// which the same holds, of the family that the arguments name.
template <class T>
cudaError_t launch_family_function(RhoFunction function, const T* rho, T* out, int64_t n, int64_t m,
                                   cudaStream_t stream);
template <class T>
cudaError_t launch_family_function(PowerFunction function, const T* kappa, T* out, int64_t n,
                                   int64_t m, cudaStream_t stream);
template <class T>
cudaError_t launch_family_log_prob(Family family, const T* value, const T* loc, const T* parameter,
                                   T* out, int64_t rows, int64_t m, cudaStream_t stream);
template <class T>
cudaError_t launch_family_sample(const SampleArguments<T>& arguments, cudaStream_t stream);
template <class T>
cudaError_t launch_family_sample_backward(const SampleBackwardArguments<T>& arguments,
                                          cudaStream_t stream);

}  // namespace svmf
