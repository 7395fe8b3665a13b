// SPDX-License-Identifier: MIT
// vMF samples, fused: random words, w, direction, norm, reflection, one write of z; and KL to the
// uniform distribution for the op that wants it. Random words and formulas are those of csrc/math
// (philox.h, wood.h, normal.h, reflection.h), as on the CPU.
//
// Per tile: the w of all its rows (wood_rounds.cuh), then the vectors. A thread draws whole Philox
// blocks, that is 4 (float) or 2 (double) neighbouring columns; they are parked so that z can be
// written with neighbouring threads on neighbouring columns. The park is shared memory, or z itself
// for rows that do not fit.
#pragma once

#include <type_traits>

#include "cuda/kernels/launchers.h"
#include "cuda/kernels/staged.cuh"
#include "cuda/kernels/wood_rounds.cuh"
#include "math/normal.h"
#include "math/reflection.h"
#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

// What the vectors need to know of a row of the tile.
template <class S>
struct SampleTileRow {
  int64_t batch;
  S w;
  S sine;
  S turns;
};

template <class S>
struct SampleTask {
  SampleArguments<S> tensors;
  int64_t rows;
  WoodDimension<S> dimension;
  int team_size;
  int tile_rows;
  int park_stride;  // elements of the park per row; 0: z is the park
};

// The table that KL needs; nothing for the op without it.
struct NoTable {};
template <bool kWithKl, class S>
using SampleTable = std::conditional_t<kWithKl, VmfTable<S>, NoTable>;

// Shared memory of a block: table, rows of the tiles, exchange of sums, parks.
template <class S, class Team, bool kWithKl>
struct SampleShared {
  static constexpr size_t kTable = kWithKl ? padded_size(sizeof(VmfTable<S>)) : 0;
  static constexpr size_t kRows = kWarpSize * sizeof(SampleTileRow<S>);  // per owner
  static constexpr size_t kExchange = Team::template exchange_bytes<S>(2);

  static size_t bytes(int rows_at_once, int park_stride) {
    return kTable + Team::kOwners * kRows + kExchange +
           Team::kOwners * rows_at_once * park_stride * sizeof(S);
  }
  __device__ static SampleTileRow<S>* rows(const Team& team) {
    return reinterpret_cast<SampleTileRow<S>*>(shared_memory<char>() + kTable +
                                               team.owner_in_block() * kRows);
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable + Team::kOwners * kRows);
  }
  __device__ static S* park(const Team& team, int park_stride) {
    return exchange() + kExchange / sizeof(S) +
           (team.owner_in_block() * team.rows_at_once() + team.row_at_once()) * park_stride;
  }
};

// Unnormalised direction into g[1 ... m), and the thread's part of its square and of its product
// with mu.
template <class S, class Team>
__device__ __forceinline__ void draw_direction(const Team& team, const SampleTileRow<S>& row,
                                               int64_t number, uint64_t seed, const S* mu,
                                               int64_t m, S* g, S (&sums)[2]) {
  S square(0), dot(0);
  if (m <= 3) {
    if (team.thread() == 0) {
      S sine = row.turns < S(0) ? S(-1) : S(1), cosine(0);
      if (m == 3) sine_cosine_turns(row.turns, &sine, &cosine);
      // m = 2: one column, +-1. m = 3: cosine and sine of the angle.
      g[1] = m == 2 ? sine : cosine;
      dot = mu[1] * g[1];
      if (m == 3) {
        g[2] = sine;
        dot = mul_add(mu[2], sine, dot);
      }
      square = S(1);
    }
  } else {
    constexpr int kDraws = kDrawsPerBlock<S>;
    const int64_t blocks = (m - 1 + kDraws - 1) / kDraws;
    for (int64_t b = team.thread(); b < blocks; b += team.size()) {
      PhiloxBlock<WordOf<S>> block[1];
      draw_blocks<S>(seed, static_cast<uint64_t>(number), static_cast<uint32_t>(b),
                     kPurposeDirection, block);
      S out[kDraws];
      normals<S>(block[0], out);
      for (int d = 0; d < kDraws; ++d) {
        const int64_t column = 1 + b * kDraws + d;
        if (column < m) {
          g[column] = out[d];
          square = mul_add(out[d], out[d], square);
          dot = mul_add(mu[column], out[d], dot);
        }
      }
    }
  }
  sums[0] = square;
  sums[1] = dot;
}

template <class S, class Team, bool kWithKl>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    vmf_sample_kernel(const __grid_constant__ SampleTask<S> task,
                      [[maybe_unused]] const __grid_constant__ SampleTable<kWithKl, S> parameter) {
  using Shared = SampleShared<S, Team, kWithKl>;
  const Team team(task.team_size);
  if constexpr (kWithKl) stage(parameter);
  const SampleArguments<S>& tensors = task.tensors;
  const uint64_t seed = static_cast<uint64_t>(*tensors.seed);
  const int64_t m = tensors.m;
  SampleTileRow<S>* const rows = Shared::rows(team);
  for_tiles(team, task.rows, task.tile_rows, [&](const TileRows& tile) {
    if (team.in_first_warp()) {
      const int lane = lane_in_warp();
      const int64_t number = tile.first + (lane < tile.count ? lane : 0);
      const int64_t batch = tensors.samples == 1 ? number : number % tensors.batch;
      const S kappa = tensors.kappa[batch];
      const DrawnCosine<S> drawn =
          m == 3 ? draw_on_sphere(kappa, number, seed)
                 : draw_by_rejection(kappa, tile.first, tile.count, seed, task.dimension);
      if (lane < tile.count) {
        const Cosine<S>& c = drawn.cosine;
        rows[lane] = {batch, cosine_value(c), square_root(c.below * c.above), drawn.turns};
        if (tensors.below != nullptr) {
          tensors.below[number] = c.below;
          tensors.above[number] = c.above;
        }
        if constexpr (kWithKl) {
          if (number < tensors.batch) {
            tensors.kl[number] =
                evaluate_kappa_function<KappaFunction::kKlUniform>(kappa, staged<VmfTable<S>>());
          }
        }
      }
    }
    team.sync();
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      const int slot = tile.slot(team, i);
      const SampleTileRow<S> row = rows[slot];
      const S* const mu = tensors.loc + row.batch * m;
      S* const z = tensors.z + (tile.first + slot) * m;
      S* const g = Team::kBlock && task.park_stride == 0 ? z : Shared::park(team, task.park_stride);
      S sums[2];
      draw_direction(team, row, tile.first + slot, seed, mu, m, g, sums);
      team.sum(sums, Shared::exchange());
      team.sync();
      const S s = row.sine / square_root(sums[0]);
      const SampleReflection<S> r = reflect_sample(row.w, s, sums[1], mu[0]);
      if (tile.has_row(team, i)) {
        int64_t j = team.thread();
        if (j == 0) {
          z[0] = mul_add(s, r.first, r.beta * mu[0]);
          j = team.size();
        }
        for (; j < m; j += team.size()) z[j] = mul_add(s, g[j], r.beta * mu[j]);
      }
      team.sync();
    }
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
