// SPDX-License-Identifier: MIT
// Launches the sampler's backward pass.
#include "common/pathwise_tables.h"
#include "cuda/kernels/vmf_sample_backward.cuh"

namespace svmf {

namespace {

template <SampleGradient kGradient, class T>
cudaError_t launch(const BackwardTask<T>& task, const TilePlan& plan, cudaStream_t stream) {
  using S = ComputeType<T>;
  Parameter<BackwardConstants<kGradient, S>> parameter{};
  parameter.value.vmf = make_vmf_table<S>(task.tensors.m);
  if constexpr (kGradient == SampleGradient::kPathwise)
    parameter.value.pathwise = pathwise_table<S>(task.tensors.m);
  return with_team(plan, [&](auto chosen) {
    using Team = typename decltype(chosen)::type;
    return launch_kernel(vmf_sample_backward_kernel<T, Team, kGradient>, plan.blocks, plan.block,
                         BackwardShared<S, Team, VmfSlopes<kGradient>>::kBytes, stream, task,
                         parameter);
  });
}

}  // namespace

template <class T>
cudaError_t launch_vmf_sample_backward(const SampleBackwardArguments<T>& arguments,
                                       cudaStream_t stream) {
  if (arguments.batch == 0) return cudaSuccess;
  if (!is_taken(arguments)) return cudaErrorInvalidValue;
  TilePlan plan;
  BackwardTask<T> task = plan_backward(arguments, &plan);
  // m = 3 is drawn by inversion: the derivative through the proposal is the pathwise one, and
  // nothing needs correction.
  if (arguments.m == 3) task.tensors.grad_log_ratio = nullptr;
  return arguments.m == 3 || arguments.gradient == SampleGradient::kPathwise
             ? launch<SampleGradient::kPathwise>(task, plan, stream)
             : launch<SampleGradient::kRejection>(task, plan, stream);
}

#define SVMF_INSTANTIATE(T) \
  template cudaError_t launch_vmf_sample_backward(const SampleBackwardArguments<T>&, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
