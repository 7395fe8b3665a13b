// SPDX-License-Identifier: MIT
// Everything that the ops call: plain functions on device pointers, for float and double. They
// enqueue on `stream` and return the launch's error; nothing waits, nothing is allocated, no device
// memory is read by the host, so all of them can be captured in a CUDA graph. Sizes may be zero.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/functions.h"
#include "common/sample_arguments.h"

namespace svmf {

// out[i] = function(order, x[i]).
template <class S>
cudaError_t launch_log_bessel(BesselFunction function, double order, const S* x, S* out, int64_t n,
                              cudaStream_t stream);
// out[i] = function(order[i], x[i]).
template <class S>
cudaError_t launch_log_bessel_orders(BesselFunction function, const S* order, const S* x, S* out,
                                     int64_t n, cudaStream_t stream);
// out[i] = function(kappa[i]) in R^m.
template <class S>
cudaError_t launch_vmf_kappa(KappaFunction function, const S* kappa, S* out, int64_t n, int64_t m,
                             cudaStream_t stream);
// out[i] = the kappa whose mean length is mean_length[i].
template <class S>
cudaError_t launch_vmf_concentration(const S* mean_length, S* out, int64_t n, int64_t m,
                                     cudaStream_t stream);
// out[i] = dw/dkappa at fixed probability.
template <class S>
cudaError_t launch_vmf_pathwise(const S* w, const S* kappa, S* out, int64_t n, int64_t m,
                                cudaStream_t stream);
// out[i] = KL(vMF(loc1[i], kappa1[i]) || vMF(loc2[i], kappa2[i])), rows of m.
template <class S>
cudaError_t launch_vmf_kl(const S* loc1, const S* kappa1, const S* loc2, const S* kappa2, S* out,
                          int64_t rows, int64_t m, cudaStream_t stream);
// out[i] = log density of vMF(loc[i], kappa[i]) at value[i].
template <class S>
cudaError_t launch_vmf_log_prob(const S* value, const S* loc, const S* kappa, S* out, int64_t rows,
                                int64_t m, cudaStream_t stream);
// z = H x, rows of m; H takes e1 to loc.
template <class S>
cudaError_t launch_householder(const S* x, const S* loc, S* z, int64_t rows, int64_t m,
                               cudaStream_t stream);
template <class S>
cudaError_t launch_householder_backward(const S* grad, const S* x, const S* loc, S* grad_x,
                                        S* grad_loc, int64_t rows, int64_t m, cudaStream_t stream);

// The sampler and its backward pass.
template <class S>
cudaError_t launch_vmf_sample(const SampleArguments<S>& arguments, cudaStream_t stream);
template <class S>
cudaError_t launch_vmf_sample_backward(const SampleBackwardArguments<S>& arguments,
                                       cudaStream_t stream);

// out[i] = function(rho[i]) of the spherical Cauchy distribution in R^m; its log density; its sampler.
template <class S>
cudaError_t launch_spherical_cauchy(RhoFunction function, const S* rho, S* out, int64_t n,
                                    int64_t m, cudaStream_t stream);
template <class S>
cudaError_t launch_spherical_cauchy_log_prob(const S* value, const S* loc, const S* rho, S* out,
                                             int64_t rows, int64_t m, cudaStream_t stream);
template <class S>
cudaError_t launch_spherical_cauchy_sample(const SampleArguments<S>& arguments,
                                           cudaStream_t stream);
template <class S>
cudaError_t launch_spherical_cauchy_sample_backward(const SampleBackwardArguments<S>& arguments,
                                                    cudaStream_t stream);

// out[i] = function(kappa[i]) of the power spherical distribution in R^m; its log density; its sampler.
template <class S>
cudaError_t launch_power_spherical(PowerFunction function, const S* kappa, S* out, int64_t n,
                                   int64_t m, cudaStream_t stream);
template <class S>
cudaError_t launch_power_spherical_log_prob(const S* value, const S* loc, const S* kappa, S* out,
                                            int64_t rows, int64_t m, cudaStream_t stream);
template <class S>
cudaError_t launch_power_spherical_sample(const SampleArguments<S>& arguments, cudaStream_t stream);
template <class S>
cudaError_t launch_power_spherical_sample_backward(const SampleBackwardArguments<S>& arguments,
                                                   cudaStream_t stream);

}  // namespace svmf
