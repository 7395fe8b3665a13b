// SPDX-License-Identifier: MIT
// Launches the Householder reflection.
#include "cuda/kernels/householder.cuh"
#include "cuda/kernels/launchers.h"

namespace svmf {

namespace {

template <bool kBackward, class T>
cudaError_t launch(HouseholderTask<T> task, cudaStream_t stream) {
  if (task.rows == 0) return cudaSuccess;
  if (task.m > kMaxColumns) return cudaErrorInvalidValue;
  const TilePlan plan = plan_tiles(plan_column_team(task.m), task.rows, 1);
  task.team = plan.team;
  task.tile_rows = plan.tile_rows;
  if (plan.block_team) {
    return launch_kernel(householder_kernel<T, BlockTeam, kBackward>, plan.blocks, plan.block,
                         BlockTeam::exchange_bytes<ComputeType<T>>(kBackward ? 3 : 2), stream,
                         task);
  }
  return launch_kernel(householder_kernel<T, WarpTeam, kBackward>, plan.blocks, plan.block, 0,
                       stream, task);
}

}  // namespace

template <class T>
cudaError_t launch_householder(const T* x, const T* loc, T* z, int64_t rows, int64_t m,
                               cudaStream_t stream) {
  return launch<false>(HouseholderTask<T>{nullptr, x, loc, z, nullptr, rows, m, {}, 0}, stream);
}

template <class T>
cudaError_t launch_householder_backward(const T* grad, const T* x, const T* loc, T* grad_x,
                                        T* grad_loc, int64_t rows, int64_t m, cudaStream_t stream) {
  return launch<true>(HouseholderTask<T>{grad, x, loc, grad_x, grad_loc, rows, m, {}, 0}, stream);
}

#define SVMF_INSTANTIATE(T)                                                                        \
  template cudaError_t launch_householder(const T*, const T*, T*, int64_t, int64_t, cudaStream_t); \
  template cudaError_t launch_householder_backward(const T*, const T*, const T*, T*, T*, int64_t,  \
                                                   int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
