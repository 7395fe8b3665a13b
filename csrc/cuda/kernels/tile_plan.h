// SPDX-License-Identifier: MIT
// Host side of team.cuh: how many threads work on a row and how many rows make a tile. The team
// depends on m alone, so that sums are added in the same order for every batch; the tiles depend on
// the number of rows and of multiprocessors, and cannot be seen in the results.
#pragma once

#include <cstdint>

#include "cuda/kernels/launch.h"

namespace svmf {

// Threads per row, a power of two up to 32 or the whole block; of the former the logarithm too, so that
// a kernel finds both among its parameters.
struct TeamSize {
  int threads;
  int log_threads;
};

struct TilePlan {
  bool block_team;  // BlockTeam, else WarpTeam or RunTeam
  bool run_team;    // a lane has at most one item of its row
  TeamSize team;
  int tile_rows;   // rows per tile, at most 32
  int block;       // threads per block
  int64_t blocks;  // as many as have a tile
};

inline constexpr int kWarpSize = 32, kLogWarpSize = 5;
// Threads of a block of WarpTeams, and the most that a BlockTeam has.
inline constexpr int kTeamBlock = 128;
inline constexpr int kLargeTeam = 256;
// Warps or blocks per multiprocessor that keep it busy: as long as a larger tile leaves this many,
// it is worth taking.
inline constexpr int kBusyOwners = 8;

// The sampler parks rows up to this size in shared memory, the limit being what leaves room for a
// second block.
inline constexpr int64_t kParkBytes = 32 * 1024;
inline constexpr int64_t kMostParkedFloats = kParkBytes / 4;

// Columns are counted in 32 bits. A row of this many floats is 8 GB.
inline constexpr int64_t kMaxColumns = 0x7fffffff - 4 * kLargeTeam;

inline int power_of_two_at_least(int64_t n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

// `items` units of work per row; a warp takes up to `warp_items` of a row, and a larger row gets a
// block.
inline TilePlan plan_team(int64_t items, int64_t warp_items) {
  TilePlan plan{};
  plan.block_team = items > warp_items;
  plan.run_team = items <= kWarpSize;
  if (plan.block_team) {
    plan.block = items <= 512 ? 128 : kLargeTeam;
    plan.team.threads = plan.block;
  } else {
    plan.block = kTeamBlock;
    plan.team.threads = power_of_two_at_least(items < kWarpSize ? items : kWarpSize);
    while (1 << plan.team.log_threads < plan.team.threads) ++plan.team.log_threads;
  }
  return plan;
}

// For kernels that walk along the columns: up to four columns per thread of a small row, a warp up
// to m = 1024.
inline constexpr int kColumnsPerThread = 4;
inline constexpr int64_t kMostColumnsOfRun = kColumnsPerThread * kWarpSize;
inline TilePlan plan_column_team(int64_t m) {
  constexpr int64_t kWarpColumns = 1024;
  return plan_team((m + kColumnsPerThread - 1) / kColumnsPerThread,
                   kWarpColumns / kColumnsPerThread);
}

// Tiles hold at least the rows that a warp has at once, and at most `most_rows` (a power of two up
// to 32).
inline TilePlan plan_tiles(TilePlan plan, int64_t rows, int most_rows) {
  const int least_rows = plan.block_team ? 1 : kWarpSize / plan.team.threads;
  const int owners =
      plan.block_team ? 1 : kTeamBlock / kWarpSize;  // tiles that a block works on at once
  int processors = 1;
  if (count_processors(&processors) != cudaSuccess) processors = 1;  // the launch will report it
  plan.tile_rows = most_rows > least_rows ? most_rows : least_rows;
  const int64_t busy = int64_t(processors) * kBusyOwners;
  while (plan.tile_rows > least_rows && rows < busy * plan.tile_rows) plan.tile_rows /= 2;
  const int64_t tiles = (rows + plan.tile_rows - 1) / plan.tile_rows;
  plan.blocks = (tiles + owners - 1) / owners;
  return plan;
}

}  // namespace svmf
