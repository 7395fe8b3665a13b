// SPDX-License-Identifier: MIT
// KL between two vMF distributions and the log density: both are a function of the concentrations
// and of the squared distance of two rows. A tile's distances are summed by teams, then the
// function runs with lane = row.
#pragma once

#include "cuda/kernels/staged.cuh"
#include "cuda/kernels/team.cuh"
#include "math/vmf_kl.h"
#include "math/vmf_log_prob.h"

namespace svmf {
inline namespace SVMF_ISA {

enum class DistanceFunction { kKl, kLogProb };

template <class S>
struct DistanceTask {
  const S* a;       // [rows, m]: loc1, or value
  const S* b;       // [rows, m]: loc2, or loc
  const S* kappa1;  // [rows]
  const S* kappa2;  // [rows], KL
  S* out;           // [rows]
  int64_t rows;
  int64_t m;
  int team_size;
  int tile_rows;
};

// Shared memory of a block: table, distances of the tiles, exchange of sums.
template <class S, class Team>
struct DistanceShared {
  static constexpr size_t kTable = padded_size(sizeof(VmfTable<S>));
  static constexpr size_t kBytes =
      kTable + Team::kOwners * kWarpSize * sizeof(S) + Team::template exchange_bytes<S>(1);

  __device__ static S* distances(const Team& team) {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable) + team.owner_in_block() * kWarpSize;
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable) + Team::kOwners * kWarpSize;
  }
};

template <class S, class Team, DistanceFunction kFunction>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    vmf_distance_kernel(const __grid_constant__ DistanceTask<S> task,
                        const __grid_constant__ VmfTable<S> parameter) {
  using Shared = DistanceShared<S, Team>;
  const Team team(task.team_size);
  stage(parameter);
  const int64_t m = task.m;
  S* const distances = Shared::distances(team);
  for_tiles(team, task.rows, task.tile_rows, [&](const TileRows& tile) {
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      const int slot = tile.slot(team, i);
      const S *const a = task.a + (tile.first + slot) * m, *const b =
                                                               task.b + (tile.first + slot) * m;
      S sum[1] = {S(0)};
      for (int64_t j = team.thread(); j < m; j += team.size()) {
        const S difference = a[j] - b[j];
        sum[0] = mul_add(difference, difference, sum[0]);
      }
      team.sum(sum, Shared::exchange());
      if (team.thread() == 0 && tile.has_row(team, i)) distances[slot] = sum[0];
    }
    team.sync();
    if (team.in_first_warp() && lane_in_warp() < tile.count) {
      const int lane = lane_in_warp();
      const int64_t row = tile.first + lane;
      const VmfTable<S>& table = staged<VmfTable<S>>();
      if constexpr (kFunction == DistanceFunction::kKl) {
        task.out[row] = vmf_kl(task.kappa1[row], task.kappa2[row], distances[lane], table);
      } else {
        task.out[row] = vmf_log_prob(task.kappa1[row], distances[lane], table);
      }
    }
    team.sync();
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
