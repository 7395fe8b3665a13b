// SPDX-License-Identifier: MIT
// w = mu.z for a chunk of rows, lane = row, two registers at a time. All rows propose; rejected
// ones are packed and propose again with their next random words, so that a retry runs nearly full.
#pragma once

#include <algorithm>

#include "math/cosine_laws.h"
#include "math/row_counters.h"
#include "simd/twin.h"

namespace svmf {
inline namespace SVMF_ISA {

// Rows whose w are drawn together: enough that the packed retries run nearly full.
inline constexpr int kCosineChunk = 1024;

template <class S>
struct CosineChunk {
  alignas(64) S kappa[kCosineChunk];
  alignas(64) S below[kCosineChunk];  // 1 - w
  alignas(64) S above[kCosineChunk];  // 1 + w
  alignas(64) S side[kCosineChunk];   // the direction's angle in turns (m = 3), or a number whose
                                      // sign it takes (m = 2)
};

template <Family kFamily, class S>
class CosineSampler {
  using Law = CosineLaw<kFamily>;
  using V = Twin<RowVec<S>>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  static constexpr int kBlocks = kBlocksPerProposal<S>;
  using Words = WordOf<V>;
  using Block = PhiloxBlock<Words>;

 public:
  CosineSampler(int64_t m, uint64_t seed)
      : m_(m), seed_(seed), dimension_(make_wood_dimension<S>(m)) {}

  // Fills below, above and side of the rows first_row ... first_row + count from their kappa.
  void draw(CosineChunk<S>* chunk, int64_t first_row, int count) {
    for (int i = count; i % kWidth != 0; ++i) chunk->kappa[i] = S(0.5);
    if (m_ == 3) return draw_sphere(chunk, first_row, count);
    first_proposals(chunk, first_row, count);
    for (int attempt = 1; pending_ > 0; ++attempt) retry(chunk, first_row, attempt);
  }

 private:
  static SVMF_INLINE Cosine<V> nan_unless(MaskOf<V> valid, const Cosine<V>& c) {
    return {select(valid, c.below, not_a_number<V>()), select(valid, c.above, not_a_number<V>())};
  }

  void draw_sphere(CosineChunk<S>* chunk, int64_t first_row, int count) {
    for (int i = 0; i < count; i += kWidth) {
      const RowCounters<V> rows(static_cast<uint64_t>(first_row + i));
      Block blocks[1] = {rows.block(0, kPurposeProposal)};
      philox(blocks, seed_);
      V u, v;
      uniform_pair(blocks[0], 0, &u, &v);
      const V kappa = V::load(chunk->kappa + i);
      const Cosine<V> c = nan_unless(Law::is_valid(kappa), Law::on_sphere(u, v, kappa));
      c.below.store(chunk->below + i);
      c.above.store(chunk->above + i);
      uniform_turns<V>(blocks[0], 1).store(chunk->side + i);
    }
  }

  // Attempt 0, all rows in order. What a rejected lane stores is overwritten by its retry.
  void first_proposals(CosineChunk<S>* chunk, int64_t first_row, int count) {
    pending_ = 0;
    for (int i = 0; i < count; i += kWidth) {
      const Words index = RowCounters<V>::lane_numbers() + Words(i);
      const V kappa = V::load(chunk->kappa + i);
      Block blocks[kBlocks];
      Cosine<V> c;
      const unsigned rejected = propose(
          kappa, RowCounters<V>(static_cast<uint64_t>(first_row), index), 0, count - i, blocks, &c);
      c.below.store(chunk->below + i);
      c.above.store(chunk->above + i);
      if (dimension_.circle) proposal_turns<V>(blocks, 3).store(chunk->side + i);
      wait(index, kappa, rejected);
    }
  }

  void retry(CosineChunk<S>* chunk, int64_t first_row, int attempt) {
    const int count = pending_;
    pending_ = 0;
    if (attempt >= kMaxProposals) {  // not reachable in practice: csrc/math/wood.h
      for (int i = 0; i < count; ++i)
        chunk->below[waiting_[i]] = chunk->above[waiting_[i]] = Format<S>::kNan;
      return;
    }
    Words(0).store(waiting_ + count);
    V(S(0.5)).store(waiting_kappa_ + count);
    for (int i = 0; i < count; i += kWidth) {
      const Words index = Words::load(waiting_ + i);
      const V kappa = V::load(waiting_kappa_ + i);
      Block blocks[kBlocks];
      Cosine<V> c;
      const unsigned rejected =
          propose(kappa, RowCounters<V>(static_cast<uint64_t>(first_row), index), attempt,
                  count - i, blocks, &c);
      alignas(64) S below[kWidth], above[kWidth], side[kWidth];
      c.below.store(below);
      c.above.store(above);
      if (dimension_.circle) proposal_turns<V>(blocks, 3).store(side);
      const int n = std::min(kWidth, count - i);
      for (int j = 0; j < n; ++j) {
        const auto row = waiting_[i + j];
        chunk->below[row] = below[j];
        chunk->above[row] = above[j];
        if (dimension_.circle) chunk->side[row] = side[j];
      }
      wait(index, kappa, rejected);
    }
  }

  // Appends the rejected lanes to those that wait. During a retry no more are appended than were
  // taken, and whole registers end before what is taken next.
  SVMF_INLINE void wait(Words index, V kappa, unsigned rejected) {
    store_packed(index, rejected, waiting_ + pending_);
    store_packed(kappa, rejected, waiting_kappa_ + pending_);
    pending_ += __builtin_popcount(rejected);
  }

  // One proposal per lane; the bits of the first n lanes that must try again. A lane with a bad
  // kappa is done with nan.
  SVMF_INLINE unsigned propose(V kappa, const RowCounters<V>& rows, int attempt, int n,
                               Block (&blocks)[kBlocks], Cosine<V>* out) {
    for (int b = 0; b < kBlocks; ++b)
      blocks[b] = rows.block(static_cast<uint32_t>(attempt * kBlocks + b), kPurposeProposal);
    philox(blocks, seed_);
    Cosine<V> c;
    const auto accepted = Law::propose(blocks, Law::prepare(kappa, dimension_), dimension_, &c);
    const auto valid = Law::is_valid(kappa);
    *out = nan_unless(valid, c);
    const unsigned in_range = n >= kWidth ? ~0u >> (32 - kWidth) : (1u << n) - 1u;
    return ~bitmask(accepted | logical_not(valid)) & in_range;
  }

  int64_t m_;
  uint64_t seed_;
  WoodDimension<S> dimension_;
  // Rows of the chunk that must propose again, with their kappa.
  alignas(64) typename RowCounters<V>::Word waiting_[kCosineChunk + kWidth];
  alignas(64) S waiting_kappa_[kCosineChunk + kWidth];
  int pending_ = 0;
};

}  // namespace SVMF_ISA
}  // namespace svmf
