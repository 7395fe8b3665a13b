// SPDX-License-Identifier: MIT
// Samples of a family beside the vMF and their backward pass: the tiles of vmf_sample.cuh and
// vmf_sample_backward.cuh with another law of w. `Slopes` says how w moves with the concentration.
#pragma once

#include "cuda/kernels/vmf_sample.cuh"
#include "cuda/kernels/vmf_sample_backward.cuh"

namespace svmf {
inline namespace SVMF_ISA {

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

template <Family kFamily, class Team, class T>
cudaError_t launch_family_team(const SampleTask<T>& task, const TilePlan& plan,
                               cudaStream_t stream) {
  using S = ComputeType<T>;
  const int rows_at_once = plan.block_team ? 1 : kWarpSize / plan.team_size;
  const size_t shared = SampleShared<S, Team, false>::bytes(rows_at_once, task.park_stride);
  return launch_kernel(family_sample_kernel<T, Team, kFamily>, plan.blocks, plan.block, shared,
                       stream, task);
}

template <Family kFamily, class T>
cudaError_t launch_family_sample(const SampleArguments<T>& arguments, cudaStream_t stream) {
  if (arguments.samples * arguments.batch == 0) return cudaSuccess;
  if (arguments.m > kMaxColumns) return cudaErrorInvalidValue;
  if (!std::is_same_v<ComputeType<T>, T> && !sample_takes_halves(arguments.m))
    return cudaErrorInvalidValue;
  TilePlan plan;
  const SampleTask<T> task = plan_sample(arguments, &plan);
  return plan.block_team ? launch_family_team<kFamily, BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_family_team<kFamily, RunTeam>(task, plan, stream)
                         : launch_family_team<kFamily, WarpTeam>(task, plan, stream);
}

template <class Slopes, class Team, class T>
cudaError_t launch_family_backward_team(const BackwardTask<T>& task, const TilePlan& plan,
                                        cudaStream_t stream) {
  using S = ComputeType<T>;
  using Constants = typename Slopes::template Constants<S>;
  return launch_kernel(family_sample_backward_kernel<T, Team, Slopes>, plan.blocks, plan.block,
                       BackwardShared<S, Team, Slopes>::kBytes, stream, task,
                       Parameter<Constants>{Slopes::template make<S>(task.tensors.m)});
}

template <class Slopes, class T>
cudaError_t launch_family_backward(const SampleBackwardArguments<T>& arguments,
                                   cudaStream_t stream) {
  if (arguments.batch == 0) return cudaSuccess;
  if (arguments.m > kMaxColumns) return cudaErrorInvalidValue;
  if (!std::is_same_v<ComputeType<T>, T> &&
      !sample_backward_takes_halves(arguments.samples, arguments.m))
    return cudaErrorInvalidValue;
  TilePlan plan;
  const BackwardTask<T> task = plan_backward(arguments, &plan);
  return plan.block_team ? launch_family_backward_team<Slopes, BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_family_backward_team<Slopes, RunTeam>(task, plan, stream)
                         : launch_family_backward_team<Slopes, WarpTeam>(task, plan, stream);
}

}  // namespace SVMF_ISA
}  // namespace svmf
