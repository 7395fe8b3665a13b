// SPDX-License-Identifier: MIT
// Launches the Householder reflection.
#include "cuda/kernels/householder.cuh"
#include "cuda/kernels/launchers.h"

namespace svmf {

namespace {

template <bool kBackward, class S>
cudaError_t launch(HouseholderTask<S> task, cudaStream_t stream) {
  if (task.rows == 0) return cudaSuccess;
  const TilePlan plan = plan_tiles(plan_column_team(task.m), task.rows, 1);
  task.team_size = plan.team_size;
  task.tile_rows = plan.tile_rows;
  if (plan.block_team) {
    return launch_kernel(householder_kernel<S, BlockTeam, kBackward>, plan.blocks, plan.block,
                         BlockTeam::exchange_bytes<S>(kBackward ? 3 : 2), stream, task);
  }
  return launch_kernel(householder_kernel<S, WarpTeam, kBackward>, plan.blocks, plan.block, 0,
                       stream, task);
}

}  // namespace

template <class S>
cudaError_t launch_householder(const S* x, const S* loc, S* z, int64_t rows, int64_t m,
                               cudaStream_t stream) {
  return launch<false>(HouseholderTask<S>{nullptr, x, loc, z, nullptr, rows, m, 0, 0}, stream);
}

template <class S>
cudaError_t launch_householder_backward(const S* grad, const S* x, const S* loc, S* grad_x,
                                        S* grad_loc, int64_t rows, int64_t m, cudaStream_t stream) {
  return launch<true>(HouseholderTask<S>{grad, x, loc, grad_x, grad_loc, rows, m, 0, 0}, stream);
}

template cudaError_t launch_householder(const float*, const float*, float*, int64_t, int64_t,
                                        cudaStream_t);
template cudaError_t launch_householder(const double*, const double*, double*, int64_t, int64_t,
                                        cudaStream_t);
template cudaError_t launch_householder_backward(const float*, const float*, const float*, float*,
                                                 float*, int64_t, int64_t, cudaStream_t);
template cudaError_t launch_householder_backward(const double*, const double*, const double*,
                                                 double*, double*, int64_t, int64_t, cudaStream_t);

}  // namespace svmf
