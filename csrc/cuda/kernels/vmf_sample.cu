// SPDX-License-Identifier: MIT
// Launches the sampler.
#include "cuda/kernels/vmf_sample.cuh"

namespace svmf {

namespace {

template <class T, class Team, bool kWithKl>
cudaError_t launch(SampleTask<T> task, const TilePlan& plan, cudaStream_t stream) {
  using S = ComputeType<T>;
  const int rows_at_once = plan.block_team ? 1 : kWarpSize / plan.team_size;
  const size_t shared = SampleShared<S, Team, kWithKl>::bytes(rows_at_once, task.park_stride);
  SampleTable<kWithKl, S> table{};
  if constexpr (kWithKl) table.value = make_vmf_table<S>(task.tensors.m);
  return launch_kernel(vmf_sample_kernel<T, Team, kWithKl>, plan.blocks, plan.block, shared, stream,
                       task, table);
}

template <class Team, class T>
cudaError_t launch_team(const SampleTask<T>& task, const TilePlan& plan, cudaStream_t stream) {
  return task.tensors.kl ? launch<T, Team, true>(task, plan, stream)
                         : launch<T, Team, false>(task, plan, stream);
}

}  // namespace

template <class T>
cudaError_t launch_vmf_sample(const SampleArguments<T>& arguments, cudaStream_t stream) {
  const int64_t rows = arguments.samples * arguments.batch, m = arguments.m;
  if (rows == 0) {
    if (arguments.kl == nullptr) return cudaSuccess;
    return launch_vmf_kappa(KappaFunction::kKlUniform, arguments.kappa, arguments.kl,
                            arguments.batch, m, stream);
  }
  if (m > kMaxColumns) return cudaErrorInvalidValue;
  if (!std::is_same_v<ComputeType<T>, T> && !sample_takes_halves(m)) return cudaErrorInvalidValue;
  TilePlan plan;
  const SampleTask<T> task = plan_sample(arguments, &plan);
  return plan.block_team ? launch_team<BlockTeam>(task, plan, stream)
         : plan.run_team ? launch_team<RunTeam>(task, plan, stream)
                         : launch_team<WarpTeam>(task, plan, stream);
}

#define SVMF_INSTANTIATE(T) \
  template cudaError_t launch_vmf_sample(const SampleArguments<T>&, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
