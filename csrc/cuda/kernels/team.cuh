// SPDX-License-Identifier: MIT
// Who works on what in the row kernels. Rows are cut into tiles of up to 32; a tile has an owner.
// Work that is one number per row (the rejection sampler, Bessel ratios) runs with lane = row in
// one warp of the owner; work along the row runs with a team of threads per row. Three kinds
// of owner:
//   WarpTeam   a warp owns the tile; teams of 1, 2, ... 32 lanes, several rows at once
//   RunTeam    the same for rows so short that a lane has one piece of its row: the rows of a step
//              are one run of memory, which the warp moves as a whole by way of shared memory
//   BlockTeam  a block owns the tile; the team is the whole block, one row at once
// Every thread of an owner takes part in every sum and every sync: loops run to bounds that the
// owner shares, and teams without a row repeat one without writing. So all warp functions name the
// whole warp, and no warp diverges at one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/half_types.h"
#include "cuda/kernels/tile_plan.h"
#include "math/lanes.h"

namespace svmf {
inline namespace SVMF_ISA {

inline constexpr unsigned kWholeWarp = 0xffffffffu;
static_assert(kWarpSize == 32);

// By unsigned division: a signed one asks for the sign.
__device__ __forceinline__ int lane_in_warp() { return static_cast<int>(threadIdx.x % 32u); }
__device__ __forceinline__ int warp_in_block() { return static_cast<int>(threadIdx.x / 32u); }

// Sums over `size` neighbouring lanes, in every one of them, in an order that depends on `size`
// alone. Unrolled: a loop over the offsets costs three times the shuffles. Few questions are asked on
// the way to the offset that a size begins with.
template <int K, class S>
__device__ __forceinline__ void add_from_lane(S (&x)[K], int offset) {
#pragma unroll
  for (int k = 0; k < K; ++k) x[k] += __shfl_xor_sync(kWholeWarp, x[k], offset);
}
template <int K, class S>
__device__ __forceinline__ void sum_lanes(S (&x)[K], int size) {
  if (size == 32) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) add_from_lane(x, offset);
    return;
  }
  if (size > 4) {
    if (size > 8) add_from_lane(x, 8);
    add_from_lane(x, 4);
  }
  if (size > 2) add_from_lane(x, 2);
  if (size > 1) add_from_lane(x, 1);
}

class WarpTeam {
 public:
  static constexpr bool kBlock = false;
  static constexpr bool kRuns = false;
  static constexpr int kMaxThreads = kTeamBlock;          // of a block
  static constexpr int kOwners = kTeamBlock / kWarpSize;  // of tiles, in a block
  // Shared memory that sum() needs for K values.
  template <class S>
  static constexpr size_t exchange_bytes(int) {
    return 0;
  }
  // Shifts in the place of divisions, which are twenty instructions each.
  __device__ explicit WarpTeam(const TeamSize& size)
      : size_(size.threads), log_size_(size.log_threads) {}

  __device__ int owner_in_block() const { return warp_in_block(); }
  __device__ bool in_first_warp() const { return true; }

  __device__ int size() const { return size_; }
  __device__ int thread() const { return lane_in_warp() & (size_ - 1); }
  __device__ int rows_at_once() const { return kWarpSize >> log_size_; }
  __device__ int row_at_once() const { return lane_in_warp() >> log_size_; }

  __device__ void sync() const { __syncwarp(); }

  template <int K, class S>
  __device__ void sum(S (&x)[K], S*) const {
    sum_lanes(x, size_);
  }

 private:
  int size_, log_size_;
};

class RunTeam : public WarpTeam {
 public:
  static constexpr bool kRuns = true;
  using WarpTeam::WarpTeam;
};

// kValues neighbouring values as they are loaded and stored at once.
template <class T, int kValues>
struct __attribute__((may_alias, aligned(kValues * sizeof(T)))) Piece {
  uint32_t word[kValues * sizeof(T) / 4];
};

template <class From, class To>
__device__ __forceinline__ void copy_item(const From* from, To* to) {
  *to = static_cast<To>(*from);
}
// The piece is read as a whole before it is taken apart; nvcc reads piecemeal what is not.
template <class From, class To, int kValues>
__device__ __forceinline__ void copy_item(const Piece<From, kValues>* from,
                                          Piece<To, kValues>* to) {
  if constexpr (std::is_same_v<From, To>) {
    *to = *from;
  } else {
    const Piece<From, kValues> piece = *from;
    From read[kValues];
    __builtin_memcpy(read, &piece, sizeof read);
    To converted[kValues];
#pragma unroll
    for (int i = 0; i < kValues; ++i) converted[i] = static_cast<To>(read[i]);
    Piece<To, kValues> result;
    __builtin_memcpy(&result, converted, sizeof result);
    *to = result;
  }
}

// Copies `count` items by the lanes of a warp, at most kPerLane each.
template <int kPerLane, class From, class To>
__device__ __forceinline__ void copy_by_lanes(const From* from, int count, To* to) {
  const From* const source = from + lane_in_warp();
  To* const target = to + lane_in_warp();
  const int left = count - lane_in_warp();
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    if (k * kWarpSize < left) copy_item(source + k * kWarpSize, target + k * kWarpSize);
  }
}

// Copies `count` values, at most kPerLane for every lane of the warp, between global memory and a
// run in shared memory. Piece by piece, of 16 bytes in shared memory, if `global`, the one of the
// two that may begin anywhere, allows it. Which lane moves a value depends on that.
template <int kPerLane, class From, class To, class Global>
__device__ __forceinline__ void copy_run(const From* from, int count, To* to,
                                         const Global* global) {
  constexpr int kValues = 16 / sizeof(ComputeType<Global>);
  if (static_cast<unsigned>(reinterpret_cast<uintptr_t>(global)) % sizeof(Piece<Global, kValues>) ==
      0) {
    const int pieces = static_cast<int>(static_cast<unsigned>(count) / kValues);
    copy_by_lanes<(kPerLane + kValues - 1) / kValues>(
        reinterpret_cast<const Piece<From, kValues>*>(from), pieces,
        reinterpret_cast<Piece<To, kValues>*>(to));
    const int e = pieces * kValues + lane_in_warp();
    if (e < count) to[e] = static_cast<To>(from[e]);
  } else {
    copy_by_lanes<kPerLane>(from, count, to);
  }
}

class BlockTeam {
 public:
  static constexpr bool kBlock = true;
  static constexpr bool kRuns = false;
  static constexpr int kMaxThreads = kLargeTeam;
  static constexpr int kOwners = 1;
  template <class S>
  static constexpr size_t exchange_bytes(int values) {
    return static_cast<size_t>(values) * (kLargeTeam / kWarpSize) * sizeof(S);
  }
  __device__ explicit BlockTeam(const TeamSize&) {}

  __device__ int owner_in_block() const { return 0; }
  __device__ bool in_first_warp() const { return warp_in_block() == 0; }

  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int rows_at_once() const { return 1; }
  __device__ int row_at_once() const { return 0; }

  __device__ void sync() const { __syncthreads(); }

  // `exchange` has room for exchange_bytes<S>(K). Every thread adds the warps' sums in the same
  // order.
  template <int K, class S>
  __device__ void sum(S (&x)[K], S* exchange) const {
    const int warps = size() / kWarpSize;
    sum_lanes(x, kWarpSize);
    for (int k = 0; k < K; ++k) {
      if (lane_in_warp() == 0) exchange[k * warps + warp_in_block()] = x[k];
    }
    __syncthreads();
    for (int k = 0; k < K; ++k) {
      x[k] = exchange[k * warps];
      for (int w = 1; w < warps; ++w) x[k] += exchange[k * warps + w];
    }
    __syncthreads();
  }
};

template <class T>
struct TypeOf {
  using type = T;
};

// f(TypeOf<Team>{}), for kernels that have a version for each.
template <class F>
cudaError_t with_team(const TilePlan& plan, F f) {
  return plan.block_team ? f(TypeOf<BlockTeam>{})
         : plan.run_team ? f(TypeOf<RunTeam>{})
                         : f(TypeOf<WarpTeam>{});
}

// The rows of one tile, and the one that this thread's team has at step `i`.
struct TileRows {
  int64_t first;
  int count;

  template <class Team>
  __device__ int slot(const Team& team, int i) const {
    const int wanted = i + team.row_at_once();
    return wanted < count ? wanted : count - 1;
  }
  // Rows of the step `i`.
  template <class Team>
  __device__ int rows_of_step(const Team& team, int i) const {
    return count - i < team.rows_at_once() ? count - i : team.rows_at_once();
  }
  template <class Team>
  __device__ bool has_row(const Team& team, int i) const {
    return i + team.row_at_once() < count;
  }
};

// Calls f(TileRows) for the tiles of this thread's owner. The tiles that the owners of a block have
// at once follow each other, and all its threads make the same number of calls: towards the end
// with tiles of no rows, whose count may be negative.
template <class Team, class F>
__device__ __forceinline__ void for_tiles_of_block(const Team& team, int64_t rows, int tile_rows,
                                                   F f) {
  const int own = team.owner_in_block() * tile_rows;
  const uint64_t of_block = static_cast<unsigned>(Team::kOwners * tile_rows);  // 32 bits times 32
  const int64_t stride = static_cast<int64_t>(gridDim.x * of_block);
  for (int64_t start = static_cast<int64_t>(blockIdx.x * of_block); start < rows; start += stride) {
    const int64_t left = rows - start - own;
    f(TileRows{start + own, left < tile_rows ? static_cast<int>(left) : tile_rows});
  }
}

// The same for owners that do not wait for each other: tiles with rows alone.
template <class Team, class F>
__device__ __forceinline__ void for_tiles(const Team& team, int64_t rows, int tile_rows, F f) {
  for_tiles_of_block(team, rows, tile_rows, [&](const TileRows& tile) {
    if (tile.count > 0) f(tile);
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
