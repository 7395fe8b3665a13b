// SPDX-License-Identifier: MIT
// Launches KL between two vMF distributions, and the log density.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/vmf_distance.cuh"

namespace svmf {

namespace {

template <DistanceFunction kFunction, class Team, class S>
cudaError_t launch_team(const DistanceTask<S>& task, const TilePlan& plan, cudaStream_t stream) {
  return launch_kernel(vmf_distance_kernel<S, Team, kFunction>, plan.blocks, plan.block,
                       DistanceShared<S, Team>::kBytes, stream, task, make_vmf_table<S>(task.m));
}

template <DistanceFunction kFunction, class S>
cudaError_t launch(DistanceTask<S> task, cudaStream_t stream) {
  if (task.rows == 0) return cudaSuccess;
  const TilePlan plan = plan_tiles(plan_column_team(task.m), task.rows, kWarpSize);
  task.team_size = plan.team_size;
  task.tile_rows = plan.tile_rows;
  return plan.block_team ? launch_team<kFunction, BlockTeam>(task, plan, stream)
                         : launch_team<kFunction, WarpTeam>(task, plan, stream);
}

}  // namespace

template <class S>
cudaError_t launch_vmf_kl(const S* loc1, const S* kappa1, const S* loc2, const S* kappa2, S* out,
                          int64_t rows, int64_t m, cudaStream_t stream) {
  return launch<DistanceFunction::kKl>(
      DistanceTask<S>{loc1, loc2, kappa1, kappa2, out, rows, m, 0, 0}, stream);
}

template <class S>
cudaError_t launch_vmf_log_prob(const S* value, const S* loc, const S* kappa, S* out, int64_t rows,
                                int64_t m, cudaStream_t stream) {
  return launch<DistanceFunction::kLogProb>(
      DistanceTask<S>{value, loc, kappa, nullptr, out, rows, m, 0, 0}, stream);
}

template cudaError_t launch_vmf_kl(const float*, const float*, const float*, const float*, float*,
                                   int64_t, int64_t, cudaStream_t);
template cudaError_t launch_vmf_kl(const double*, const double*, const double*, const double*,
                                   double*, int64_t, int64_t, cudaStream_t);
template cudaError_t launch_vmf_log_prob(const float*, const float*, const float*, float*, int64_t,
                                         int64_t, cudaStream_t);
template cudaError_t launch_vmf_log_prob(const double*, const double*, const double*, double*,
                                         int64_t, int64_t, cudaStream_t);

}  // namespace svmf
