// SPDX-License-Identifier: MIT
// vMF samples, fused: random words, w, direction, norm, reflection, one write of z; and KL to the
// uniform distribution for the op that wants it. Random words and formulas are those of csrc/math
// (philox.h, wood.h, normal.h, reflection.h), as on the CPU. The other families differ in the law of
// w alone; their KL is a kernel of its own.
//
// Per tile: the w of all its rows (wood_rounds.cuh), then the vectors. A thread draws whole Philox
// blocks, that is 4 (float) or 2 (double) neighbouring columns. Short rows (RunTeam): one block per
// thread, which stays in its registers; mu comes to shared memory as one run, and z leaves it as
// one. Long rows: the blocks are parked, so that z can be written with neighbouring threads on
// neighbouring columns; the park is shared memory, or z itself for rows that do not fit.
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

template <class T>
struct SampleTask {
  SampleArguments<T> tensors;
  int64_t rows;
  WoodDimension<ComputeType<T>> dimension;
  TeamSize team;
  int tile_rows;
  int park_stride;  // elements of the park per row; 0: z is the park
};

// The table that KL needs; nothing for the op without it.
struct NoTable {};
template <bool kWithKl, class S>
using SampleTable = std::conditional_t<kWithKl, Parameter<VmfTable<S>>, NoTable>;

// Shared memory of a block: table, rows of the tiles, exchange of sums, runs or parks.
template <class S, class Team, bool kWithKl>
struct SampleShared {
  static constexpr int kRunPerLane = kDrawsPerBlock<S> + 1;  // the first column is not drawn
  static constexpr int kRun = Team::kRuns ? kRunPerLane * kWarpSize : 0;
  static constexpr size_t kTable = kWithKl ? padded_size(sizeof(VmfTable<S>)) : 0;
  static constexpr size_t kRows = kWarpSize * sizeof(SampleTileRow<S>);  // per owner
  static constexpr size_t kExchange = Team::template exchange_bytes<S>(2);

  static size_t bytes(int rows_at_once, int park_stride) {
    const int per_owner = Team::kRuns ? kRun : rows_at_once * park_stride;
    return kTable + Team::kOwners * kRows + kExchange + Team::kOwners * per_owner * sizeof(S);
  }
  __device__ static SampleTileRow<S>* rows(const Team& team) {
    return reinterpret_cast<SampleTileRow<S>*>(shared_memory<char>() + kTable +
                                               team.owner_in_block() * kRows);
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kTable + Team::kOwners * kRows);
  }
  __device__ static S* run(const Team& team) {
    return exchange() + kExchange / sizeof(S) + team.owner_in_block() * kRun;
  }
  __device__ static S* park(const Team& team, int park_stride) {
    return exchange() + kExchange / sizeof(S) +
           (team.owner_in_block() * team.rows_at_once() + team.row_at_once()) * park_stride;
  }
};

// m = 2 and 3: the direction is a sign or an angle; column d + 1 of it is out[d].
template <class S, int K>
__device__ __forceinline__ void direction_of_turns(S turns, int m, S (&out)[K]) {
  S sine = turns < S(0) ? S(-1) : S(1), cosine(0);
  if (m == 3) sine_cosine_turns(turns, &sine, &cosine);
  out[0] = m == 2 ? sine : cosine;
  out[1] = sine;
}

template <class S, int K>
__device__ __forceinline__ void draw_normals(uint64_t seed, int64_t number, int b, S (&out)[K]) {
  PhiloxBlock<WordOf<S>> block[1];
  draw_blocks<S>(seed, static_cast<uint64_t>(number), static_cast<uint32_t>(b), kPurposeDirection,
                 block);
  normals<S>(block[0], out);
}

// One step over short rows: `left` of them from begin_row on, or as many as the warp has at once; rows
// are their entries in the tile. mu of all of them is one run, with a jump where the batch begins anew.
template <class Shared, class T, class S>
__device__ __forceinline__ void sample_run(const RunTeam& team, const SampleArguments<T>& tensors,
                                           int64_t begin_row, int left, uint64_t seed,
                                           const SampleTileRow<S>* rows) {
  constexpr int kDraws = kDrawsPerBlock<S>;
  const int m = static_cast<int>(tensors.m), at_once = team.rows_at_once();
  const int count = (left < at_once ? left : at_once) * m;
  S* const run = Shared::run(team);
  const int64_t first = rows->batch * m, total = tensors.batch * m;
  const T* const from = tensors.loc + first;
  if (first + count <= total) {
    copy_run<Shared::kRunPerLane>(from, count, run, from);
  } else {
    for (int e = lane_in_warp(); e < count; e += kWarpSize)
      run[e] = tensors.loc[(first + e) % total];
  }
  team.sync();
  const bool has_row = team.row_at_once() < left;
  const int slot = has_row ? team.row_at_once() : left - 1;
  const SampleTileRow<S> row = rows[slot];
  S* const z = run + slot * m;
  const int begin = 1 + team.thread() * kDraws;
  S g[kDraws] = {}, mu[kDraws];
  if (begin < m) {
    if (m <= 3)
      direction_of_turns(row.turns, m, g);
    else
      draw_normals(seed, begin_row + slot, team.thread(), g);
  }
  S sums[2] = {S(0), S(0)};
#pragma unroll
  for (int d = 0; d < kDraws; ++d) {
    const S mu_read = z[begin + d];  // beyond the row there is still the run
    mu[d] = begin + d < m ? mu_read : S(0);
    if (d > 0) g[d] = begin + d < m ? g[d] : S(0);  // g[0] is there only where begin < m
    sums[0] = mul_add(g[d], g[d], sums[0]);
    sums[1] = mul_add(mu[d], g[d], sums[1]);
  }
  const S mu0 = z[0];
  team.sum(sums, static_cast<S*>(nullptr));
  const S s = row.sine / (m <= 3 ? S(1) : square_root(sums[0]));  // turns are of length 1
  const SampleReflection<S> r = reflect_sample(row.w, s, sums[1], mu0);
  team.sync();  // mu has been read
  if (has_row) {
    if (team.thread() == 0) z[0] = mul_add(s, r.first, r.beta * mu0);
#pragma unroll
    for (int d = 0; d < kDraws; ++d) {
      if (begin + d < m) z[begin + d] = mul_add(s, g[d], r.beta * mu[d]);
    }
  }
  team.sync();
  T* const to = tensors.z + begin_row * m;
  copy_run<Shared::kRunPerLane>(run, count, to, to);
  team.sync();  // the run is free for the next step
}

// One step over a long row.
template <class Shared, class Team, class T, class S>
__device__ __forceinline__ void sample_row(const Team& team, const SampleArguments<T>& tensors,
                                           const TileRows& tile, int i, uint64_t seed,
                                           const SampleTileRow<S>* rows, int park_stride) {
  constexpr int kDraws = kDrawsPerBlock<S>;
  const int m = static_cast<int>(tensors.m);
  const int slot = tile.slot(team, i);
  const SampleTileRow<S> row = rows[slot];
  const T* const mu = tensors.loc + row.batch * m;
  T* const z = tensors.z + (tile.first + slot) * m;
  S* g = Shared::park(team, park_stride);
  if constexpr (Team::kBlock && std::is_same_v<S, T>) {
    if (park_stride == 0) g = z;
  }
  S sums[2] = {S(0), S(0)};  // g.g, mu.g
  for (int begin = 1 + team.thread() * kDraws; begin < m; begin += team.size() * kDraws) {
    S out[kDraws];
    draw_normals(seed, tile.first + slot, begin / kDraws, out);
    for (int d = 0; d < kDraws; ++d) {
      if (begin + d < m) {
        g[begin + d] = out[d];
        sums[0] = mul_add(out[d], out[d], sums[0]);
      }
    }
  }
  team.sync();
  for (int j = 1 + team.thread(); j < m; j += team.size())
    sums[1] = mul_add(S(mu[j]), g[j], sums[1]);
  team.sum(sums, Shared::exchange());
  const S s = row.sine / square_root(sums[0]);
  const SampleReflection<S> r = reflect_sample(row.w, s, sums[1], S(mu[0]));
  if (tile.has_row(team, i)) {
    int j = team.thread();
    if (j == 0) {
      z[0] = mul_add(s, r.first, r.beta * S(mu[0]));
      j = team.size();
    }
    for (; j < m; j += team.size()) z[j] = mul_add(s, g[j], r.beta * S(mu[j]));
  }
  team.sync();
}

// KL of 32 rows by the warp whose tile begins them: it has a lane for each, whatever the tiles hold.
template <class T>
__device__ __forceinline__ void write_kl(const SampleArguments<T>& tensors, int64_t first) {
  using S = ComputeType<T>;
  const int64_t row = first + lane_in_warp();
  if (first % kWarpSize == 0 && row < tensors.batch) {
    tensors.kl[row] = evaluate_kappa_function<KappaFunction::kKlUniform>(S(tensors.kappa[row]),
                                                                         staged<VmfTable<S>>());
  }
}

template <Family kFamily, bool kWithKl, class Team, class T>
__device__ __forceinline__ void sample_tiles(const SampleTask<T>& task) {
  using S = ComputeType<T>;
  using Shared = SampleShared<S, Team, kWithKl>;
  const Team team(task.team);
  const SampleArguments<T>& tensors = task.tensors;
  const uint64_t seed = static_cast<uint64_t>(*tensors.seed);
  SampleTileRow<S>* const rows = Shared::rows(team);
  for_tiles(team, task.rows, task.tile_rows, [&](const TileRows& tile) {
    if (team.in_first_warp()) {
      const int lane = lane_in_warp();
      const int64_t number = tile.first + (lane < tile.count ? lane : 0);
      const int64_t batch = tensors.samples == 1 ? number : number % tensors.batch;
      const S kappa = tensors.kappa[batch];
      const DrawnCosine<S> drawn =
          tensors.m == 3
              ? draw_on_sphere<kFamily>(kappa, number, seed)
              : draw_by_rejection<kFamily>(kappa, tile.first, tile.count, seed, task.dimension);
      if (lane < tile.count) {
        const Cosine<S>& c = drawn.cosine;
        rows[lane] = {batch, cosine_value(c), square_root(c.below * c.above), drawn.turns};
        if (tensors.below != nullptr) {
          tensors.below[number] = c.below;
          tensors.above[number] = c.above;
        }
      }
      if constexpr (kWithKl) write_kl(tensors, tile.first);
    }
    team.sync();
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      if constexpr (Team::kRuns)
        sample_run<Shared>(team, tensors, tile.first + i, tile.count - i, seed, rows + i);
      else
        sample_row<Shared>(team, tensors, tile, i, seed, rows, task.park_stride);
    }
  });
}

template <class T, class Team, bool kWithKl>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks) vmf_sample_kernel(
    const __grid_constant__ SampleTask<T> task,
    [[maybe_unused]] const __grid_constant__ SampleTable<kWithKl, ComputeType<T>> parameter) {
  if constexpr (kWithKl) stage(parameter);
  sample_tiles<Family::kVonMisesFisher, kWithKl, Team>(task);
}

// A team's thread draws whole Philox blocks. A warp takes up to four per lane: the rest of a step
// costs a block's many threads as much as the draws (docs/cuda.md).
inline constexpr int64_t kWarpBlocks = 4 * kWarpSize;

// The task of at least one row, and its plan. m is at most kMaxColumns.
template <class T>
SampleTask<T> plan_sample(const SampleArguments<T>& arguments, TilePlan* plan) {
  using S = ComputeType<T>;
  const int64_t rows = arguments.samples * arguments.batch, m = arguments.m;
  const int64_t blocks = (m - 1 + kDrawsPerBlock<S> - 1) / kDrawsPerBlock<S>;
  *plan = plan_tiles(plan_team(blocks, kWarpBlocks), rows, kWarpSize);
  const bool park = m * static_cast<int64_t>(sizeof(S)) <= kParkBytes;
  return {arguments,
          rows,
          make_wood_dimension<S>(m),
          plan->team,
          plan->tile_rows,
          park ? static_cast<int>(m) : 0};
}

// Whether a kernel takes samples of this size and type.
template <class T>
bool is_taken(const SampleArguments<T>& arguments) {
  const bool is_half = !std::is_same_v<ComputeType<T>, T>;
  return arguments.m <= kMaxColumns && (!is_half || sample_takes_halves(arguments.m));
}

template <class Team, bool kWithKl, class T>
size_t sample_bytes(const SampleTask<T>& task, const TilePlan& plan) {
  const int rows_at_once = plan.block_team ? 1 : kWarpSize / plan.team.threads;
  return SampleShared<ComputeType<T>, Team, kWithKl>::bytes(rows_at_once, task.park_stride);
}

}  // namespace SVMF_ISA
}  // namespace svmf
