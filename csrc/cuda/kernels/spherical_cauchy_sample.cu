// SPDX-License-Identifier: MIT
// Launches the sampler of the spherical Cauchy distribution and its backward pass.
#include "cuda/kernels/family_sample.cuh"
#include "math/spherical_cauchy.h"

namespace svmf {

namespace {

struct CauchySlopes {
  template <class S>
  using Constants = CauchyTable<S>;
  template <class S>
  static Constants<S> make(int64_t m) {
    return make_cauchy_table<S>(m);
  }

  template <class T, class S>
  __device__ static PreparedSample<S> prepare(const SampleBackwardArguments<T>& tensors,
                                              int64_t row, S kappa) {
    const Cosine<S> c{tensors.below[row], tensors.above[row]};
    return {cosine_value(c), c.below, cauchy_step_along_meridian(kappa), S(0)};
  }
  template <class S>
  __device__ static S of_kl(S kappa) {
    return evaluate_rho_function<RhoFunction::kKlUniformGrad>(kappa, staged<Constants<S>>());
  }
};

}  // namespace

template <class T>
cudaError_t launch_spherical_cauchy_sample(const SampleArguments<T>& arguments,
                                           cudaStream_t stream) {
  return launch_family_sample<Family::kSphericalCauchy>(arguments, stream);
}

template <class T>
cudaError_t launch_spherical_cauchy_sample_backward(const SampleBackwardArguments<T>& arguments,
                                                    cudaStream_t stream) {
  return launch_family_backward<CauchySlopes>(arguments, stream);
}

#define SVMF_INSTANTIATE(T)                                                                       \
  template cudaError_t launch_spherical_cauchy_sample(const SampleArguments<T>&, cudaStream_t);   \
  template cudaError_t launch_spherical_cauchy_sample_backward(const SampleBackwardArguments<T>&, \
                                                               cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
