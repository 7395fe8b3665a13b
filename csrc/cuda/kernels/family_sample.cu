// SPDX-License-Identifier: MIT
// Launches the samplers of the families beside the vMF and their backward passes: the tiles of
// vmf_sample.cuh and vmf_sample_backward.cuh with another law of w. `Slopes` says how w moves with
// the concentration.
#include "cuda/kernels/vmf_sample.cuh"
#include "cuda/kernels/vmf_sample_backward.cuh"
#include "math/power_spherical_pathwise.h"
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
                                              int64_t row, S rho) {
    const Cosine<S> c{tensors.below[row], tensors.above[row]};
    return {cosine_value(c), c.below, cauchy_step_along_meridian(rho), S(0)};
  }
  template <class S>
  __device__ static S of_kl(S rho) {
    return evaluate_rho_function<RhoFunction::kKlUniformGrad>(rho, staged<Constants<S>>());
  }
};

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

template <class T, class Team, Family kFamily>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    family_sample_kernel(const __grid_constant__ SampleTask<T> task) {
  sample_tiles<kFamily, false, Team>(task);
}

template <class T, class Team, class Slopes>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks) family_sample_backward_kernel(
    const __grid_constant__ BackwardTask<T> task,
    const __grid_constant__ Parameter<typename Slopes::template Constants<ComputeType<T>>>
        parameter) {
  stage(parameter);
  backward_tiles<Slopes, Team>(task);
}

template <Family kFamily, class T>
cudaError_t launch(const SampleArguments<T>& arguments, cudaStream_t stream) {
  TilePlan plan;
  const SampleTask<T> task = plan_sample(arguments, &plan);
  return with_team(plan, [&](auto chosen) {
    using Team = typename decltype(chosen)::type;
    return launch_kernel(family_sample_kernel<T, Team, kFamily>, plan.blocks, plan.block,
                         sample_bytes<Team, false>(task, plan), stream, task);
  });
}

template <class Slopes, class T>
cudaError_t launch_backward(const SampleBackwardArguments<T>& arguments, cudaStream_t stream) {
  using S = ComputeType<T>;
  TilePlan plan;
  const BackwardTask<T> task = plan_backward(arguments, &plan);
  const Parameter<typename Slopes::template Constants<S>> parameter{
      Slopes::template make<S>(arguments.m)};
  return with_team(plan, [&](auto chosen) {
    using Team = typename decltype(chosen)::type;
    return launch_kernel(family_sample_backward_kernel<T, Team, Slopes>, plan.blocks, plan.block,
                         BackwardShared<S, Team, Slopes>::kBytes, stream, task, parameter);
  });
}

}  // namespace

template <class T>
cudaError_t launch_family_sample(const SampleArguments<T>& arguments, cudaStream_t stream) {
  if (arguments.samples * arguments.batch == 0) return cudaSuccess;
  if (!is_taken(arguments)) return cudaErrorInvalidValue;
  return arguments.family == Family::kSphericalCauchy
             ? launch<Family::kSphericalCauchy>(arguments, stream)
             : launch<Family::kPowerSpherical>(arguments, stream);
}

template <class T>
cudaError_t launch_family_sample_backward(const SampleBackwardArguments<T>& arguments,
                                          cudaStream_t stream) {
  if (arguments.batch == 0) return cudaSuccess;
  if (!is_taken(arguments)) return cudaErrorInvalidValue;
  return arguments.family == Family::kSphericalCauchy
             ? launch_backward<CauchySlopes>(arguments, stream)
             : launch_backward<PowerSlopes>(arguments, stream);
}

#define SVMF_INSTANTIATE(T)                                                             \
  template cudaError_t launch_family_sample(const SampleArguments<T>&, cudaStream_t);   \
  template cudaError_t launch_family_sample_backward(const SampleBackwardArguments<T>&, \
                                                     cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
