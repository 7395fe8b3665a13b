// SPDX-License-Identifier: MIT
// vMF samples, fused: random words, w, direction, norm, reflection, one write of z.
//
// A range of rows is cut into chunks. For a chunk all w are drawn first (lane = row); rejected rows are packed and try
// again. Then the vectors, in groups of N rows with lane = row for the random numbers. The reflection is the stable one
// of the two that a sign allows (docs/sampling.md). Few columns: everything stays lane = row, with transposes in
// and out. Many columns: the normals are turned into rows once, and the reflection runs along the rows.
#include <algorithm>
#include <vector>

#include "cpu/kernels/rows.h"
#include "math/normal.h"
#include "math/wood.h"
#include "simd/transpose.h"
#include "simd/vec_words.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

// Rows whose w are drawn together: enough that the packed retries run nearly full.
constexpr int kChunk = 1024;

template <class S>
struct Chunk {
  S kappa[kChunk];
  S below[kChunk];
  S above[kChunk];
  S side[kChunk];  // m = 2: the sign of the direction; m = 3: its angle in turns
};

template <class S>
class CosineSampler {
  using V = RowVec<S>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  static constexpr int kBlocks = kBlocksPerProposal<S>;

 public:
  CosineSampler(int64_t m, uint64_t seed) : m_(m), seed_(seed), dimension_(make_wood_dimension<S>(m)) {}

  // Fills chunk->below, above and side for rows first_row ... first_row + count.
  void draw(Chunk<S>* chunk, int64_t first_row, int count) {
    if (m_ == 3) return draw_sphere(chunk, first_row, count);
    pending_ = 0;
    for (int i = 0; i < count; i += kWidth) {
      const int n = std::min(kWidth, count - i);
      PhiloxBlock<WordOf<V>> blocks[kBlocks];
      const RowCounters<V> rows(static_cast<uint64_t>(first_row + i));
      for (int b = 0; b < kBlocks; ++b) blocks[b] = rows.block(b, kPurposeProposal);
      int index[kWidth];
      for (int j = 0; j < kWidth; ++j) index[j] = i + j;
      propose(chunk, V::load(chunk->kappa + i), blocks, index, n);
    }
    for (int attempt = 1; pending_ > 0; ++attempt) retry(chunk, first_row, attempt);
  }

 private:
  void draw_sphere(Chunk<S>* chunk, int64_t first_row, int count) {
    for (int i = 0; i < count; i += kWidth) {
      const RowCounters<V> rows(static_cast<uint64_t>(first_row + i));
      PhiloxBlock<WordOf<V>> blocks[1] = {rows.block(0, kPurposeProposal)};
      philox(blocks, seed_);
      V u, v;
      uniform_pair(blocks[0], 0, &u, &v);
      const V kappa = V::load(chunk->kappa + i);
      const Cosine<V> c = sphere_cosine(u, v, kappa);
      const auto valid = (kappa >= V(0)) & (kappa < infinity<V>());
      select(valid, c.below, not_a_number<V>()).store(chunk->below + i);
      select(valid, c.above, not_a_number<V>()).store(chunk->above + i);
      uniform_turns(blocks[0], 1, V(0)).store(chunk->side + i);
    }
  }

  // One proposal for the n rows index[0..n): accepted ones are stored, the others noted in waiting_.
  SVMF_INLINE void propose(Chunk<S>* chunk, V kappa, PhiloxBlock<WordOf<V>> (&blocks)[kBlocks], const int* index, int n) {
    philox(blocks, seed_);
    Cosine<V> c;
    const auto accepted = wood_propose(blocks, prepare_wood(kappa, dimension_), dimension_, &c);
    const auto valid = (kappa >= V(0)) & (kappa < infinity<V>());
    const V below = select(valid, c.below, not_a_number<V>()), above = select(valid, c.above, not_a_number<V>());
    const unsigned done = bitmask(accepted | logical_not(valid));
    const bool in_order = index[n - 1] == index[0] + n - 1 && n == kWidth;
    if (in_order) {
      // Rejected lanes are overwritten by a later attempt.
      below.store(chunk->below + index[0]);
      above.store(chunk->above + index[0]);
      if (dimension_.circle) proposal_turns<V>(blocks, 3).store(chunk->side + index[0]);
    } else {
      S side[kWidth];
      if (dimension_.circle) proposal_turns<V>(blocks, 3).store(side);
      for (int j = 0; j < n; ++j) {
        chunk->below[index[j]] = below[j];
        chunk->above[index[j]] = above[j];
        if (dimension_.circle) chunk->side[index[j]] = side[j];
      }
    }
    for (unsigned left = ~done & ((n == 32 ? 0u : 1u << n) - 1u); left != 0; left &= left - 1) {
      waiting_[pending_++] = index[__builtin_ctz(left)];
    }
  }

  void retry(Chunk<S>* chunk, int64_t first_row, int attempt) {
    const int count = pending_;
    pending_ = 0;
    if (attempt >= kMaxProposals) {  // not reachable in practice: csrc/math/wood.h
      for (int i = 0; i < count; ++i) chunk->below[waiting_[i]] = chunk->above[waiting_[i]] = Format<S>::kNan;
      return;
    }
    for (int i = 0; i < count; i += kWidth) {
      const int n = std::min(kWidth, count - i);
      int index[kWidth];
      uint64_t rows[kWidth];
      alignas(64) S kappa[kWidth];
      for (int j = 0; j < kWidth; ++j) {
        index[j] = waiting_[i + std::min(j, n - 1)];
        rows[j] = static_cast<uint64_t>(first_row + index[j]);
        kappa[j] = chunk->kappa[index[j]];
      }
      PhiloxBlock<WordOf<V>> blocks[kBlocks];
      const RowCounters<V> counters(rows);
      for (int b = 0; b < kBlocks; ++b) blocks[b] = counters.block(attempt * kBlocks + b, kPurposeProposal);
      // Writing to waiting_ behind the read position is safe: at most as many are added as were read.
      propose(chunk, V::load(kappa), blocks, index, n);
    }
  }

  int64_t m_;
  uint64_t seed_;
  WoodDimension<S> dimension_;
  int waiting_[kChunk];
  int pending_ = 0;
};

template <class S>
class VectorWriter {
  using V = RowVec<S>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  static constexpr int kDraws = kDrawsPerBlock<S>;
  // Blocks whose chains are interleaved.
  static constexpr int kTogether = 2;

 public:
  VectorWriter(const SampleRows<S>& task) : task_(task), loc_end_(task.loc + task.batch * task.m) {
    if (task.m >= 2 * kWidth) {
      stride_ = task.m + 2 * kWidth;
      scratch_.resize(static_cast<size_t>(kWidth * stride_));
    }
  }

  // z of rows first ... first + n (n <= N), whose w stand at chunk index i.
  SVMF_INLINE void write(const Chunk<S>& chunk, int i, int64_t first, int n, S* range_end) {
    const V below = V::load(chunk.below + i), above = V::load(chunk.above + i);
    const Cosine<V> c{below, above};
    const V w = cosine_value(c), sine = square_root(below * above);
    const S* loc[kWidth];
    int64_t b = first % task_.batch;
    for (int j = 0; j < kWidth; ++j) {
      loc[j] = task_.loc + b * task_.m;
      if (j < n - 1 && ++b == task_.batch) b = 0;
    }
    if (task_.m < 2 * kWidth) write_few_columns(chunk, i, first, n, w, sine, loc, range_end);
    else write_many_columns(first, n, w, sine, loc);
  }

 private:
  // Unnormalised direction g[1..m) and its squared length.
  SVMF_INLINE V direction(const Chunk<S>& chunk, int i, int64_t first, V* g) {
    const int64_t m = task_.m;
    if (m == 2) {
      const V side = V::load(chunk.side + i);
      g[1] = select(side < V(0), V(-1), V(1));
      return V(1);
    }
    if (m == 3) {
      sine_cosine_turns(V::load(chunk.side + i), &g[2], &g[1]);
      return V(1);
    }
    V sum(0);
    const RowCounters<V> rows(static_cast<uint64_t>(first));
    for (int64_t block = 0; block * kDraws < m - 1; block += kTogether) {
      PhiloxBlock<WordOf<V>> blocks[kTogether];
      for (int k = 0; k < kTogether; ++k) blocks[k] = rows.block(static_cast<uint32_t>(block + k), kPurposeDirection);
      philox(blocks, task_.seed);
      for (int k = 0; k < kTogether; ++k) {
        V out[kDraws];
        normals<V>(blocks[k], out);
        for (int d = 0; d < kDraws; ++d) {
          const int64_t column = 1 + (block + k) * kDraws + d;
          if (column < m) {
            g[column] = out[d];
            sum = mul_add(out[d], out[d], sum);
          }
        }
      }
    }
    return sum;
  }

  SVMF_INLINE void write_few_columns(const Chunk<S>& chunk, int i, int64_t first, int n, V w, V sine, const S* const* loc,
                                     S* range_end) {
    const int64_t m = task_.m;
    V g[2 * kWidth + kTogether * kDraws];
    const V square_length = direction(chunk, i, first, g);
    const V s = sine / square_root(square_length);

    // Columns as lanes: the first N columns, and if there are more the last N (overlapping).
    V mu[2 * kWidth];
    const int64_t second = m > kWidth ? m - kWidth : 0;
    if (second != 0) {
      V tile[kWidth];
      for (int j = 0; j < kWidth; ++j) tile[j] = V::load(loc[j] + second);
      transpose(tile);
      for (int j = 0; j < kWidth; ++j) mu[second + j] = tile[j];
    }
    {
      V tile[kWidth];
      for (int j = 0; j < kWidth; ++j) tile[j] = load_row(loc[j], m, loc_end_);
      transpose(tile);
      for (int j = 0; j < kWidth; ++j) mu[j] = tile[j];
    }

    V dot(0);
    for (int64_t j = 1; j < m; ++j) dot = mul_add(mu[j], g[j], dot);
    const V d = V(1) + absolute(mu[0]);
    const V ratio = dot / d;
    g[0] = select(mu[0] < V(0), ratio, -ratio);
    const V beta = w - s * ratio;
    for (int64_t j = 0; j < m; ++j) g[j] = mul_add(s, g[j], beta * mu[j]);

    S* z = task_.z + first * m;
    if (second != 0) {
      V tile[kWidth];
      for (int j = 0; j < kWidth; ++j) tile[j] = g[second + j];
      transpose(tile);
      for (int j = 0; j < n; ++j) tile[j].store(z + j * m + second);
    }
    V tile[kWidth];
    for (int j = 0; j < kWidth; ++j) tile[j] = j < m ? g[j] : V(0);
    transpose(tile);
    for (int j = 0; j < n; ++j) {
      if (second != 0) tile[j].store(z + j * m);
      else store_row<S>(tile[j], z + j * m, m, range_end);
    }
  }

  // The normals of N rows, turned into rows of scratch_; returns their squared lengths.
  SVMF_INLINE V direction_rows(int64_t first) {
    const int64_t m = task_.m;
    static_assert(kWidth % kDraws == 0 || kDraws % kWidth == 0, "a tile holds whole blocks");
    constexpr int kTileBlocks = kWidth >= kDraws ? kWidth / kDraws : 1;
    constexpr int kTiles = kWidth >= kDraws ? 1 : kDraws / kWidth;
    V sum(0);
    const RowCounters<V> rows(static_cast<uint64_t>(first));
    for (int64_t block = 0; block * kDraws < m - 1; block += kTileBlocks) {
      PhiloxBlock<WordOf<V>> blocks[kTileBlocks];
      for (int k = 0; k < kTileBlocks; ++k) blocks[k] = rows.block(static_cast<uint32_t>(block + k), kPurposeDirection);
      philox(blocks, task_.seed);
      V columns[kTileBlocks * kDraws];
      for (int k = 0; k < kTileBlocks; ++k) {
        V out[kDraws];
        normals<V>(blocks[k], out);
        for (int d = 0; d < kDraws; ++d) columns[k * kDraws + d] = out[d];
      }
      const int64_t start = 1 + block * kDraws;
      const int64_t whole = m - start;
      for (int64_t j = 0; j < kTileBlocks * kDraws; ++j) {
        if (j < whole) sum = mul_add(columns[j], columns[j], sum);
      }
      for (int t = 0; t < kTiles; ++t) {
        V tile[kWidth];
        for (int j = 0; j < kWidth; ++j) tile[j] = columns[t * kWidth + j];
        transpose(tile);
        for (int j = 0; j < kWidth; ++j) tile[j].store(scratch_.data() + j * stride_ + start + t * kWidth);
      }
    }
    return sum;
  }

  void write_many_columns(int64_t first, int n, V w, V sine, const S* const* loc) {
    const int64_t m = task_.m;
    const V s_lanes = sine / square_root(direction_rows(first));
    for (int r = 0; r < n; ++r) {
      S* g = scratch_.data() + r * stride_;
      const S* mu = loc[r];
      g[0] = S(0);
      const S s = s_lanes[r];
      const S dot = row_dot(g, mu, m);
      const S ratio = dot / (S(1) + absolute(mu[0]));
      g[0] = mu[0] < S(0) ? ratio : -ratio;
      const V beta(w[r] - s * ratio), scale(s);
      S* z = task_.z + (first + r) * m;
      int64_t j = 0;
      for (; j + kWidth <= m; j += kWidth) mul_add(scale, V::load(g + j), beta * V::load(mu + j)).store(z + j);
      if (j < m) {
        j = m - kWidth;
        mul_add(scale, V::load(g + j), beta * V::load(mu + j)).store(z + j);
      }
    }
  }

  static SVMF_INLINE S row_dot(const S* a, const S* b, int64_t m) {
    V even(0), odd(0);
    int64_t j = 0;
    for (; j + 2 * kWidth <= m; j += 2 * kWidth) {
      even = mul_add(V::load(a + j), V::load(b + j), even);
      odd = mul_add(V::load(a + j + kWidth), V::load(b + j + kWidth), odd);
    }
    for (; j + kWidth <= m; j += kWidth) even = mul_add(V::load(a + j), V::load(b + j), even);
    const V sum = even + odd;
    S total = sum_lanes(sum);
    for (; j < m; ++j) total = mul_add(a[j], b[j], total);
    return total;
  }

  const SampleRows<S>& task_;
  const S* loc_end_;
  int64_t stride_ = 0;
  std::vector<S> scratch_;
};

}  // namespace

template <class S>
void vmf_sample_rows(const SampleRows<S>& task, int64_t begin, int64_t end) {
  constexpr int kWidth = Lanes<RowVec<S>>::kWidth;
  Chunk<S> chunk;
  CosineSampler<S> cosines(task.m, task.seed);
  VectorWriter<S> vectors(task);
  for (int64_t row = begin; row < end; row += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, end - row));
    int64_t b = row % task.batch;
    for (int i = 0; i < count; ++i) {
      chunk.kappa[i] = task.kappa[b];
      if (++b == task.batch) b = 0;
    }
    for (int i = count; i < count + kWidth && i < kChunk; ++i) chunk.kappa[i] = S(1);
    cosines.draw(&chunk, row, count);
    if (task.below != nullptr) {
      std::copy(chunk.below, chunk.below + count, task.below + row);
      std::copy(chunk.above, chunk.above + count, task.above + row);
    }
    for (int i = 0; i < count; i += kWidth) {
      vectors.write(chunk, i, row + i, std::min(kWidth, count - i), task.z + end * task.m);
    }
  }
}

template void vmf_sample_rows(const SampleRows<float>&, int64_t, int64_t);
template void vmf_sample_rows(const SampleRows<double>&, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
