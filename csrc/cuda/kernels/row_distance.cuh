// SPDX-License-Identifier: MIT
// A function of the squared distance of two rows and of their concentrations: KL between two vMF
// distributions, log densities; some also take the distance from the other pole, |a + b|^2. A tile's
// distances are summed by teams, then the function runs with lane = row.
#pragma once

#include "common/half_types.h"
#include "cuda/kernels/launch.h"
#include "cuda/kernels/staged.cuh"
#include "cuda/kernels/team.cuh"
#include "math/vmf_table.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class T>
struct DistanceTask {
  const T* a;       // [rows, m]: loc1, or value
  const T* b;       // [rows, m]: loc2, or loc
  const T* kappa1;  // [rows]
  const T* kappa2;  // [rows], KL
  T* out;           // [rows]
  int64_t rows;
  int64_t m;
  TeamSize team;
  int tile_rows;
};

// Functions of the squared distance alone, with the tables of the vMF.
struct OfDistance {
  template <class S>
  using Table = VmfTable<S>;
  static constexpr bool kBothPoles = false;
  template <class S>
  static Table<S> make(int64_t m) {
    return make_vmf_table<S>(m);
  }
};

// Shared memory of a block: table, distances of the tiles, exchange of sums.
template <class S, class Team, class Function>
struct DistanceShared {
  static constexpr int kSums = Function::kBothPoles ? 2 : 1;
  static constexpr size_t kTable = padded_size(sizeof(typename Function::template Table<S>));
  static constexpr size_t kBytes = kTable + kSums * Team::kOwners * kWarpSize * sizeof(S) +
                                   Team::template exchange_bytes<S>(kSums);

  __device__ static S* distances(const Team& team) {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable) +
           kSums * team.owner_in_block() * kWarpSize;
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable) + kSums * Team::kOwners * kWarpSize;
  }
};

template <class T, class Team, class Function>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks) row_distance_kernel(
    const __grid_constant__ DistanceTask<T> task,
    const __grid_constant__ Parameter<typename Function::template Table<ComputeType<T>>>
        parameter) {
  using S = ComputeType<T>;
  using Shared = DistanceShared<S, Team, Function>;
  using Table = typename Function::template Table<S>;
  constexpr int kSums = Shared::kSums;
  const Team team(task.team);
  stage(parameter);
  const int m = static_cast<int>(task.m);
  S* const distances = Shared::distances(team);
  for_tiles(team, task.rows, task.tile_rows, [&](const TileRows& tile) {
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      const int slot = tile.slot(team, i);
      const int64_t offset = (tile.first + slot) * task.m;
      const T *const a = task.a + offset, *const b = task.b + offset;
      S sum[kSums] = {};
      for (int j = team.thread(); j < m; j += team.size()) {
        const S a_j(a[j]), b_j(b[j]), difference = a_j - b_j;
        sum[0] = mul_add(difference, difference, sum[0]);
        if constexpr (kSums == 2) {
          const S opposite = a_j + b_j;
          sum[1] = mul_add(opposite, opposite, sum[1]);
        }
      }
      team.sum(sum, Shared::exchange());
      if (team.thread() == 0 && tile.has_row(team, i)) {
        distances[slot] = sum[0];
        if constexpr (kSums == 2) distances[kWarpSize + slot] = sum[1];
      }
    }
    team.sync();
    if (team.in_first_warp() && lane_in_warp() < tile.count) {
      const int lane = lane_in_warp();
      const int64_t row = tile.first + lane;
      if constexpr (kSums == 2)
        task.out[row] = Function::apply(task, row, distances[lane], distances[kWarpSize + lane],
                                        staged<Table>());
      else
        task.out[row] = Function::apply(task, row, distances[lane], staged<Table>());
    }
    team.sync();
  });
}

template <class Function, class Team, class T>
cudaError_t launch_distance_team(const DistanceTask<T>& task, const TilePlan& plan,
                                 cudaStream_t stream) {
  using S = ComputeType<T>;
  return launch_kernel(
      row_distance_kernel<T, Team, Function>, plan.blocks, plan.block,
      DistanceShared<S, Team, Function>::kBytes, stream, task,
      Parameter<typename Function::template Table<S>>{Function::template make<S>(task.m)});
}

// Function::apply(task, row, squared distance, table) for every row of the task, whose team and
// tiles are filled in here.
template <class Function, class T>
cudaError_t launch_row_distance(DistanceTask<T> task, cudaStream_t stream) {
  if (task.rows == 0) return cudaSuccess;
  if (task.m > kMaxColumns) return cudaErrorInvalidValue;
  const TilePlan plan = plan_tiles(plan_column_team(task.m), task.rows, kWarpSize);
  task.team = plan.team;
  task.tile_rows = plan.tile_rows;
  return plan.block_team ? launch_distance_team<Function, BlockTeam>(task, plan, stream)
                         : launch_distance_team<Function, WarpTeam>(task, plan, stream);
}

}  // namespace SVMF_ISA
}  // namespace svmf
