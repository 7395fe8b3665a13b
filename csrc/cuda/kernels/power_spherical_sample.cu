// SPDX-License-Identifier: MIT
// Launches the sampler of the power spherical distribution and its backward pass.
#include "cuda/kernels/family_sample.cuh"
#include "math/power_spherical_pathwise.h"

namespace svmf {

namespace {

struct PowerSlopes {
  template <class S>
  struct Constants {
    PowerTable<S> power;
    PowerPathwiseTable<S> pathwise;
  };
  template <class S>
  static Constants<S> make(int64_t m) {
    return {make_power_table<S>(m), make_power_pathwise_table<S>(m)};
  }

  template <class T, class S>
  __device__ static PreparedSample<S> prepare(const SampleBackwardArguments<T>& tensors,
                                              int64_t row, S kappa) {
    const Cosine<S> c{tensors.below[row], tensors.above[row]};
    const auto& constants = staged<Constants<S>>();
    return {cosine_value(c), c.below,
            power_step_along_meridian(c.below, c.above, kappa, constants.power, constants.pathwise),
            S(0)};
  }
  template <class S>
  __device__ static S of_kl(S kappa) {
    return evaluate_power_function<PowerFunction::kKlUniformGrad>(kappa,
                                                                  staged<Constants<S>>().power);
  }
};

}  // namespace

template <class T>
cudaError_t launch_power_spherical_sample(const SampleArguments<T>& arguments,
                                          cudaStream_t stream) {
  return launch_family_sample<Family::kPowerSpherical>(arguments, stream);
}

template <class T>
cudaError_t launch_power_spherical_sample_backward(const SampleBackwardArguments<T>& arguments,
                                                   cudaStream_t stream) {
  return launch_family_backward<PowerSlopes>(arguments, stream);
}

#define SVMF_INSTANTIATE(T)                                                                      \
  template cudaError_t launch_power_spherical_sample(const SampleArguments<T>&, cudaStream_t);   \
  template cudaError_t launch_power_spherical_sample_backward(const SampleBackwardArguments<T>&, \
                                                              cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
