// SPDX-License-Identifier: MIT
// Samples of a family beside the vMF and their backward pass: the tiles of vmf_sample.cuh and
// vmf_sample_backward.cuh with another law of w. `Slopes` says how w moves with the concentration.
#pragma once

#include "cuda/kernels/vmf_sample.cuh"
#include "cuda/kernels/vmf_sample_backward.cuh"

namespace svmf {
inline namespace SVMF_ISA {

template <class S, class Team, Family kFamily>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    family_sample_kernel(const __grid_constant__ SampleTask<S> task) {
  sample_tiles<kFamily, false, Team>(task);
}

template <class S, class Team, class Slopes>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks) family_sample_backward_kernel(
    const __grid_constant__ BackwardTask<S> task,
    const __grid_constant__ Parameter<typename Slopes::template Constants<S>> parameter) {
  stage(parameter);
  backward_tiles<Slopes, Team>(task);
}

template <Family kFamily, class Team, class S>
cudaError_t launch_family_team(const SampleTask<S>& task, const TilePlan& plan,
                               cudaStream_t stream) {
  const int rows_at_once = plan.block_team ? 1 : kWarpSize / plan.team_size;
  const size_t shared = SampleShared<S, Team, false>::bytes(rows_at_once, task.park_stride);
  return launch_kernel(family_sample_kernel<S, Team, kFamily>, plan.blocks, plan.block, shared,
                       stream, task);
}

template <Family kFamily, class S>
cudaError_t launch_family_sample(const SampleArguments<S>& arguments, cudaStream_t stream) {
  if (arguments.samples * arguments.batch == 0) return cudaSuccess;
  if (arguments.m > kMaxColumns) return cudaErrorInvalidValue;
  TilePlan plan;
  const SampleTask<S> task = plan_sample(arguments, &plan);
  return plan.block_team ? launch_family_team<kFamily, BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_family_team<kFamily, RunTeam>(task, plan, stream)
                         : launch_family_team<kFamily, WarpTeam>(task, plan, stream);
}

template <class Slopes, class Team, class S>
cudaError_t launch_family_backward_team(const BackwardTask<S>& task, const TilePlan& plan,
                                        cudaStream_t stream) {
  using Constants = typename Slopes::template Constants<S>;
  return launch_kernel(family_sample_backward_kernel<S, Team, Slopes>, plan.blocks, plan.block,
                       BackwardShared<S, Team, Slopes>::kBytes, stream, task,
                       Parameter<Constants>{Slopes::template make<S>(task.tensors.m)});
}

template <class Slopes, class S>
cudaError_t launch_family_backward(const SampleBackwardArguments<S>& arguments,
                                   cudaStream_t stream) {
  if (arguments.batch == 0) return cudaSuccess;
  if (arguments.m > kMaxColumns) return cudaErrorInvalidValue;
  TilePlan plan;
  const BackwardTask<S> task = plan_backward(arguments, &plan);
  return plan.block_team ? launch_family_backward_team<Slopes, BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_family_backward_team<Slopes, RunTeam>(task, plan, stream)
                         : launch_family_backward_team<Slopes, WarpTeam>(task, plan, stream);
}

}  // namespace SVMF_ISA
}  // namespace svmf
