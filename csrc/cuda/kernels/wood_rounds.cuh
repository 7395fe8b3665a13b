// SPDX-License-Identifier: MIT
// The rejection sampler of csrc/math/wood.h, with the law of a family (csrc/math/cosine_laws.h), for
// up to 32 rows by one warp, lane = row, in few rounds: the lanes are shared out among the rows that
// still wait, which so try several attempts at once. The lowest accepted attempt of a row wins, as on
// the CPU, where attempts follow each other; how the lanes were shared out cannot be seen in the
// result.
#pragma once

#include "cuda/kernels/random.cuh"
#include "cuda/kernels/team.cuh"
#include "math/cosine_laws.h"

namespace svmf {
inline namespace SVMF_ISA {

// What is drawn for a row before its direction.
template <class S>
struct DrawnCosine {
  Cosine<S> cosine;
  S turns;  // m = 2: its sign is the side; m = 3: the angle of the direction
};

// The position of the bit of rank `rank` (0 is the lowest) among the bits set.
__device__ __forceinline__ int bit_of_rank(unsigned bits, int rank) {
  if ((bits & (bits + 1)) == 0) return rank;  // the lowest ones, as in a first round
  int position = 0;
  for (int width = 16; width > 0; width /= 2) {
    const int below = __popc((bits >> position) & ((1u << width) - 1));
    if (rank >= below) {
      rank -= below;
      position += width;
    }
  }
  return position;
}

// Row first + lane for lane < count. A kappa outside the domain gives nan.
template <Family kFamily = Family::kVonMisesFisher, class S>
__device__ DrawnCosine<S> draw_by_rejection(S kappa, int64_t first, int count, uint64_t seed,
                                            const WoodDimension<S>& dimension) {
  const int lane = lane_in_warp();
  using Law = CosineLaw<kFamily>;
  const bool valid = lane < count && Law::is_valid(kappa);
  const WoodConcentration<S> own = Law::prepare(kappa, dimension);
  DrawnCosine<S> drawn{{not_a_number<S>(), not_a_number<S>()}, S(0)};
  unsigned waiting = __ballot_sync(kWholeWarp, valid);
  for (int tried = 0; waiting != 0 && tried < kMaxProposals;) {
    // Attempts per row: a power of two, since divisions cost more than the lanes that it leaves idle.
    const int rows = __popc(waiting), log_share = __clz(rows - 1) - (kWarpSize - kLogWarpSize);
    const int share = 1 << log_share, rank = lane >> log_share;
    const bool has_row = rank < rows;
    const int slot = bit_of_rank(waiting, has_row ? rank : 0);
    // A lane without a row has an attempt that does not count.
    const int attempt = has_row ? tried + (lane & (share - 1)) : kMaxProposals;
    const WoodConcentration<S> row{__shfl_sync(kWholeWarp, own.b, slot),
                                   __shfl_sync(kWholeWarp, own.slope, slot)};
    constexpr int kBlocks = kBlocksPerProposal<S>;
    PhiloxBlock<WordOf<S>> blocks[kBlocks];
    draw_blocks<S>(seed, static_cast<uint64_t>(first + slot),
                   static_cast<uint32_t>(attempt * kBlocks), kPurposeProposal, blocks);
    Cosine<S> c;
    const bool accepted = Law::propose(blocks, row, dimension, &c);
    const unsigned yes = __ballot_sync(kWholeWarp, accepted && attempt < kMaxProposals);
    // A row's attempts stand in neighbouring lanes, in order.
    const bool waits = (waiting >> lane & 1) != 0;
    const int start = waits ? __popc(waiting & ((1u << lane) - 1)) * share : 0;
    const int first_yes = __ffs(static_cast<int>(yes >> start)) - 1;  // -1: none
    const bool has_won = waits && static_cast<unsigned>(first_yes) < static_cast<unsigned>(share);
    const int winner = has_won ? start + first_yes : lane;
    const S below = __shfl_sync(kWholeWarp, c.below, winner),
            above = __shfl_sync(kWholeWarp, c.above, winner);
    if (has_won) drawn.cosine = {below, above};
    if (dimension.circle) {
      const S turns = __shfl_sync(kWholeWarp, proposal_turns<S>(blocks, 3), winner);
      if (has_won) drawn.turns = turns;
    }
    waiting &= __ballot_sync(kWholeWarp, !has_won);
    tried += share;
  }
  return drawn;
}

// m = 3: one block and no rejection.
template <Family kFamily = Family::kVonMisesFisher, class S>
__device__ DrawnCosine<S> draw_on_sphere(S kappa, int64_t row, uint64_t seed) {
  PhiloxBlock<WordOf<S>> blocks[1];
  draw_blocks<S>(seed, static_cast<uint64_t>(row), 0, kPurposeProposal, blocks);
  S u, v;
  uniform_pair(blocks[0], 0, &u, &v);
  const Cosine<S> c = CosineLaw<kFamily>::on_sphere(u, v, kappa);
  const bool valid = CosineLaw<kFamily>::is_valid(kappa);
  return {{valid ? c.below : not_a_number<S>(), valid ? c.above : not_a_number<S>()},
          uniform_turns<S>(blocks[0], 1)};
}

}  // namespace SVMF_ISA
}  // namespace svmf
