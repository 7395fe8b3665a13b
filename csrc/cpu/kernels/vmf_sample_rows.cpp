// SPDX-License-Identifier: MIT
// vMF samples, fused: random words, w, direction, norm, reflection, one write of z. The other
// families differ in the law of w alone (csrc/math/cosine_laws.h).
//
// A range of rows is cut into chunks of kCosineChunk. N is the number of lanes of a register; r0 is
// the first row of a group of N.
//
//   1. All w of a chunk (cosine_sampler.h), lane = row. Arrays of the chunk, one entry per row:
//
//          kappa  [ r0   r0+1 ... r0+N-1 | r0+N ...  ]    one register = the same number of N rows
//          below  [ 1-w                  |           ]
//          above  [ 1+w                  |           ]
//          side   [ angle or sign        |           ]    m = 3 or m = 2 only
//
//   2. The normals of a group, lane = row: block b of each row gives kDraws columns.
//
//                    lane 0 .. N-1
//          g[1]    [ g_1 of rows r0 .. r0+N-1 ]    |
//          ...                                     |  one Philox block (4 floats or 2 doubles)
//          g[4]    [ g_4                      ]    |
//          g[5]    [ g_5                      ]
//          ...
//
//   3. The reflection z = s g + beta mu (docs/sampling.md) and the write.
//
//      Few columns (m < kFewColumns, compiled for each m): everything stays lane = row. mu comes in
//      and z goes out through N x N transposes (tiles.h):
//
//          memory, row after row             registers, lane = row
//          r0    mu_0 mu_1 ... mu_m-1        mu[0]  [ mu_0 of r0 .. r0+N-1 ]
//          r0+1  mu_0 mu_1 ... mu_m-1   ->   mu[1]  [ mu_1                 ]
//          ...                               ...
//
//      Many columns: the normals are turned into rows of scratch_ once, tile by tile, and the
//      reflection runs along the rows:
//
//          scratch_   row 0   [ g_1 g_2 ... g_m-1 | padding ]    stride_ = m + 2N
//                     ...
//                     row N-1 [ g_1 g_2 ... g_m-1 | padding ]
//          z          row r   [ z_0 | s g_1 + beta mu_1   s g_2 + beta mu_2 ... ]
//
// The reflection is the stable one of the two that a sign allows.
#include <algorithm>
#include <memory>

#include "cpu/kernels/cosine_sampler.h"
#include "cpu/kernels/rows.h"
#include "cpu/kernels/tiles.h"
#include "math/normal.h"
#include "math/reflection.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

template <class S>
class VectorWriter {
  using V = RowVec<S>;
  using Block = PhiloxBlock<WordOf<V>>;
  static constexpr int kWidth = Lanes<V>::kWidth;
  static constexpr int kDraws = kDrawsPerBlock<S>;
  static constexpr int kTileColumns = kWidth > kDraws ? kWidth : kDraws;

 public:
  explicit VectorWriter(const SampleArguments<S>& task)
      : task_(task),
        seed_(static_cast<uint64_t>(*task.seed)),
        loc_end_(task.loc + task.batch * task.m) {
    if (task.m >= kFewColumns<S>) {
      stride_ = task.m + 2 * kWidth;
      scratch_.reset(new S[static_cast<size_t>(kWidth * stride_)]());
    }
  }

  // z of the rows first ... first + count, whose w stand in the chunk from index 0.
  void write(const CosineChunk<S>& chunk, int64_t first, int count, S* range_end) {
    with_columns<S>(task_.m, [&](auto columns) {
      constexpr int kColumns = decltype(columns)::value;
      constexpr bool kTwoGroups = kDirectionBlocks<kColumns> == 1;
      for (int i = 0; i < count; i += kTwoGroups ? 2 * kWidth : kWidth) {
        const int n = std::min(kWidth, count - i);
        if constexpr (kTwoGroups)
          write_two_groups<kColumns>(chunk, i, first + i, count - i, range_end);
        else if constexpr (kColumns != 0)
          write_group<kColumns>(chunk, i, first + i, n, range_end);
        else
          write_many_columns(chunk, i, first + i, n, range_end);
      }
    });
  }

 private:
  struct Angle {
    V w, sine;
  };
  static SVMF_INLINE Angle load_cosine(const CosineChunk<S>& chunk, int i) {
    const Cosine<V> c{V::load(chunk.below + i), V::load(chunk.above + i)};
    return {cosine_value(c), square_root(c.below * c.above)};
  }

  // Where the mean directions of n rows are; those of lanes from n on repeat the last.
  SVMF_INLINE void locate(int64_t first, int n, const S* (&loc)[kWidth]) const {
    int64_t b = first % task_.batch;
    for (int j = 0; j < kWidth; ++j) {
      loc[j] = task_.loc + b * task_.m;
      if (j < n - 1 && ++b == task_.batch) b = 0;
    }
  }

  static SVMF_INLINE RowCounters<V> row_counters(int64_t first) {
    return RowCounters<V>(static_cast<uint64_t>(first));
  }
  static SVMF_INLINE Block direction_block(const RowCounters<V>& rows, int64_t number) {
    return rows.block(static_cast<uint32_t>(number), kPurposeDirection);
  }

  // Normals of one block, or of two side by side: their chains are long, and two fill the pipeline.
  SVMF_INLINE void finish_normals(const Block& block, V* out) {
    Block blocks[1] = {block};
    philox(blocks, seed_);
    V values[kDraws];
    normals<V>(blocks[0], values);
    for (int d = 0; d < kDraws; ++d) out[d] = values[d];
  }
  SVMF_INLINE void finish_normals(const Block& block0, const Block& block1, V* out0, V* out1) {
    using Pair = Twin<V>;
    PhiloxBlock<WordOf<Pair>> blocks[1];
    for (int i = 0; i < 4; ++i) blocks[0].word[i] = {block0.word[i], block1.word[i]};
    philox(blocks, seed_);
    Pair values[kDraws];
    normals<Pair>(blocks[0], values);
    for (int d = 0; d < kDraws; ++d) {
      out0[d] = values[d].a;
      out1[d] = values[d].b;
    }
  }

  // kBlocks blocks of normals of N rows from block number `first_block` on.
  template <int kBlocks>
  SVMF_INLINE void draw_normals(const RowCounters<V>& rows, int64_t first_block, V* out) {
    for (int b = 0; b + 2 <= kBlocks; b += 2) {
      finish_normals(direction_block(rows, first_block + b),
                     direction_block(rows, first_block + b + 1), out + b * kDraws,
                     out + (b + 1) * kDraws);
    }
    if constexpr (kBlocks % 2 == 1) {
      finish_normals(direction_block(rows, first_block + kBlocks - 1),
                     out + (kBlocks - 1) * kDraws);
    }
  }

  template <int kColumns>
  static constexpr int kDirectionBlocks = kColumns <= 3 ? 0 : (kColumns - 1 + kDraws - 1) / kDraws;

  // Few columns, one group of N rows.
  template <int kColumns>
  SVMF_INLINE void write_group(const CosineChunk<S>& chunk, int i, int64_t first, int n,
                               S* range_end) {
    V g[kColumns + kDraws];
    draw_normals<kDirectionBlocks<kColumns>>(row_counters(first), 0, g + 1);
    write_few_columns<kColumns>(chunk, i, first, n, g, range_end);
  }

  // N rows and the N behind them, with one block each, so that two chains run here too. The second
  // group may have no rows.
  template <int kColumns>
  SVMF_INLINE void write_two_groups(const CosineChunk<S>& chunk, int i, int64_t first, int n,
                                    S* range_end) {
    V g[2][kColumns + kDraws];
    finish_normals(direction_block(row_counters(first), 0),
                   direction_block(row_counters(first + kWidth), 0), g[0] + 1, g[1] + 1);
    for (int h = 0; h < 2 && h * kWidth < n; ++h) {
      write_few_columns<kColumns>(chunk, i + h * kWidth, first + h * kWidth,
                                  std::min(kWidth, n - h * kWidth), g[h], range_end);
    }
  }

  // The squared length of the direction g[1..m); on the circle and the sphere the direction itself.
  template <int kColumns>
  SVMF_INLINE V square_length(const CosineChunk<S>& chunk, int i, V* g) {
    if constexpr (kColumns == 2) {
      g[1] = select(V::load(chunk.side + i) < V(0), V(-1), V(1));
      return V(1);
    } else if constexpr (kColumns == 3) {
      sine_cosine_turns(V::load(chunk.side + i), &g[2], &g[1]);
      return V(1);
    } else {
      V sum = g[1] * g[1];
      for (int j = 2; j < kColumns; ++j) sum = mul_add(g[j], g[j], sum);
      return sum;
    }
  }

  template <int kColumns>
  SVMF_INLINE void write_few_columns(const CosineChunk<S>& chunk, int i, int64_t first, int n, V* g,
                                     S* range_end) {
    const Angle angle = load_cosine(chunk, i);
    const V square = square_length<kColumns>(chunk, i, g);
    const V s = kColumns <= 3 ? angle.sine : angle.sine / square_root(square);
    V mu[Tiles<kColumns, S>::kPadded];
    const int64_t b = first % task_.batch;
    if (b + n <= task_.batch) {
      Tiles<kColumns, S>::load(task_.loc + b * kColumns, n, loc_end_, mu);
    } else {
      const S* loc[kWidth];
      locate(first, n, loc);
      Tiles<kColumns, S>::load(loc, loc_end_, mu);
    }

    V dot = mu[1] * g[1];
    for (int j = 2; j < kColumns; ++j) dot = mul_add(mu[j], g[j], dot);
    const SampleReflection<V> r = reflect_sample(angle.w, s, dot, mu[0]);
    g[0] = r.first;
    V z[Tiles<kColumns, S>::kPadded];
    for (int j = 0; j < kColumns; ++j) z[j] = mul_add(s, g[j], r.beta * mu[j]);
    Tiles<kColumns, S>::store(z, task_.z + first * kColumns, n, range_end);
  }

  // The normals of N rows, turned into rows of scratch_ (from column 1 on: column 0 is no normal,
  // and without it every register is loaded from where one was stored); returns their squared
  // lengths. The sum is compensated tile by tile, so that z has unit length to a few eps at every
  // m.
  V direction_rows(int64_t first) {
    const int64_t m = task_.m;
    V total(0), carry(0);
    const RowCounters<V> rows = row_counters(first);
    for (int64_t start = 1; start < m; start += kTileColumns) {
      V columns[kTileColumns];
      draw_normals<kTileColumns / kDraws>(rows, (start - 1) / kDraws, columns);
      V sum = columns[0] * columns[0];
      const int64_t used = std::min<int64_t>(kTileColumns, m - start);
      if (used == kTileColumns) {
        for (int j = 1; j < kTileColumns; ++j) sum = mul_add(columns[j], columns[j], sum);
      } else {
        for (int j = 1; j < used; ++j) sum = mul_add(columns[j], columns[j], sum);
      }
      const V next = total + sum;
      carry += (total - next) + sum;
      total = next;
      for (int t = 0; t < kTileColumns; t += kWidth) {
        V tile[kWidth];
        for (int j = 0; j < kWidth; ++j) tile[j] = columns[t + j];
        transpose(tile);
        for (int j = 0; j < kWidth; ++j)
          tile[j].store(scratch_.get() + j * stride_ + (start - 1) + t);
      }
    }
    return total + carry;
  }

  void write_many_columns(const CosineChunk<S>& chunk, int i, int64_t first, int n, S* range_end) {
    const int64_t m = task_.m;
    const S* loc[kWidth];
    locate(first, n, loc);
    const Angle angle = load_cosine(chunk, i);
    const V s = angle.sine / square_root(direction_rows(first));
    alignas(64) S dots[kWidth] = {}, first_mu[kWidth] = {};
    for (int r = 0; r < n; ++r) {
      dots[r] = row_dot(scratch_.get() + r * stride_, loc[r] + 1, m - 1);
      first_mu[r] = loc[r][0];
    }
    const V dot = V::load(dots), mu0 = V::load(first_mu);
    const SampleReflection<V> reflection = reflect_sample(angle.w, s, dot, mu0);
    const V beta = reflection.beta, z0 = mul_add(s, reflection.first, beta * mu0);
    for (int r = 0; r < n; ++r) {
      S* z = task_.z + (first + r) * m;
      z[0] = z0[r];
      write_row(scratch_.get() + r * stride_, loc[r] + 1, V(s[r]), V(beta[r]), z + 1, m - 1,
                range_end);
    }
  }

  // g.mu over `count` columns; g may be read up to a whole register.
  static SVMF_INLINE S row_dot(const S* g, const S* mu, int64_t count) {
    V even(0), odd(0);
    int64_t j = 0;
    for (; j + 2 * kWidth <= count; j += 2 * kWidth) {
      even = mul_add(V::load(g + j), V::load(mu + j), even);
      odd = mul_add(V::load(g + j + kWidth), V::load(mu + j + kWidth), odd);
    }
    for (; j + kWidth <= count; j += kWidth) even = mul_add(V::load(g + j), V::load(mu + j), even);
    if (j < count) odd = mul_add(V::load(g + j), V::load_or_zero(mu + j, count - j), odd);
    return sum_lanes(even + odd);
  }

  // z = s g + beta mu. The last register may run into the next row, which is written later, but not
  // past the range.
  static SVMF_INLINE void write_row(const S* g, const S* mu, V s, V beta, S* z, int64_t count,
                                    S* range_end) {
    int64_t j = 0;
    for (; j + kWidth <= count; j += kWidth)
      mul_add(s, V::load(g + j), beta * V::load(mu + j)).store(z + j);
    if (j < count) {
      const V last = mul_add(s, V::load(g + j), beta * V::load_or_zero(mu + j, count - j));
      if (z + j + kWidth <= range_end)
        last.store(z + j);
      else
        last.store_first(z + j, count - j);
    }
  }

  const SampleArguments<S>& task_;
  const uint64_t seed_;
  const S* loc_end_;
  int64_t stride_ = 0;
  std::unique_ptr<S[]> scratch_;
};

// chunk->kappa = the concentrations of rows row ... row + count.
template <class S>
void load_kappa(const SampleArguments<S>& task, int64_t row, int count, CosineChunk<S>* chunk) {
  int64_t b = row % task.batch;
  for (int filled = 0; filled < count;) {
    const int part = static_cast<int>(std::min<int64_t>(count - filled, task.batch - b));
    std::copy(task.kappa + b, task.kappa + b + part, chunk->kappa + filled);
    filled += part;
    b = 0;
  }
}

template <Family kFamily, class S>
void sample_family(const SampleArguments<S>& task, int64_t begin, int64_t end) {
  CosineChunk<S> chunk;
  CosineSampler<kFamily, S> cosines(task.m, static_cast<uint64_t>(*task.seed));
  VectorWriter<S> vectors(task);
  for (int64_t row = begin; row < end; row += kCosineChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kCosineChunk, end - row));
    load_kappa(task, row, count, &chunk);
    cosines.draw(&chunk, row, count);
    if (task.below != nullptr) {
      std::copy(chunk.below, chunk.below + count, task.below + row);
      std::copy(chunk.above, chunk.above + count, task.above + row);
    }
    vectors.write(chunk, row, count, task.z + end * task.m);
  }
}

}  // namespace

template <class S>
void vmf_sample_rows(const SampleArguments<S>& task, int64_t begin, int64_t end) {
  with_constant(task.family,
                [&](auto family) { sample_family<decltype(family)::value>(task, begin, end); });
}

template void vmf_sample_rows(const SampleArguments<float>&, int64_t, int64_t);
template void vmf_sample_rows(const SampleArguments<double>&, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
