// SPDX-License-Identifier: MIT
// Launches the sampler.
#include "cuda/kernels/vmf_sample.cuh"

namespace svmf {

namespace {

template <class S, class Team, bool kWithKl>
cudaError_t launch(SampleTask<S> task, const TilePlan& plan, cudaStream_t stream) {
  const int rows_at_once = plan.block_team ? 1 : kWarpSize / plan.team_size;
  const size_t shared = SampleShared<S, Team, kWithKl>::bytes(rows_at_once, task.park_stride);
  SampleTable<kWithKl, S> table{};
  if constexpr (kWithKl) table.value = make_vmf_table<S>(task.tensors.m);
  return launch_kernel(vmf_sample_kernel<S, Team, kWithKl>, plan.blocks, plan.block, shared, stream,
                       task, table);
}

template <class Team, class S>
cudaError_t launch_team(const SampleTask<S>& task, const TilePlan& plan, cudaStream_t stream) {
  return task.tensors.kl ? launch<S, Team, true>(task, plan, stream)
                         : launch<S, Team, false>(task, plan, stream);
}

}  // namespace

template <class S>
cudaError_t launch_vmf_sample(const SampleArguments<S>& arguments, cudaStream_t stream) {
  const int64_t rows = arguments.samples * arguments.batch, m = arguments.m;
  if (rows == 0) {
    if (arguments.kl == nullptr) return cudaSuccess;
    return launch_vmf_kappa(KappaFunction::kKlUniform, arguments.kappa, arguments.kl,
                            arguments.batch, m, stream);
  }
  if (m > kMaxColumns) return cudaErrorInvalidValue;
  TilePlan plan;
  const SampleTask<S> task = plan_sample(arguments, &plan);
  return plan.block_team ? launch_team<BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_team<RunTeam>(task, plan, stream)
                         : launch_team<WarpTeam>(task, plan, stream);
}

template cudaError_t launch_vmf_sample(const SampleArguments<float>&, cudaStream_t);
template cudaError_t launch_vmf_sample(const SampleArguments<double>&, cudaStream_t);

}  // namespace svmf
