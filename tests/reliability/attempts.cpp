// SPDX-License-Identifier: MIT
// How many proposals rows take until one is accepted, counted over as many rows as asked, with the
// code and the random words of the sampler.
//
//     attempts f32|f64 M KAPPA ROWS SEED
//
// Prints the number of rows that were accepted at attempt 1, 2, ... kMaxProposals, then the number
// of rows that never were.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "math/row_counters.h"
#include "math/wood.h"
#include "simd/vec.h"

namespace {

template <class S>
void count(int64_t m, double kappa, int64_t rows, uint64_t seed) {
  using V = svmf::RowVec<S>;
  constexpr int kWidth = svmf::Lanes<V>::kWidth, kBlocks = svmf::kBlocksPerProposal<S>;
  const auto dimension = svmf::make_wood_dimension<S>(m);
  const auto row = svmf::prepare_wood(V(static_cast<S>(kappa)), dimension);
  int64_t accepted_at[svmf::kMaxProposals + 1] = {};
  for (int64_t first = 0; first < rows; first += kWidth) {
    const svmf::RowCounters<V> counters(static_cast<uint64_t>(first));
    unsigned waiting = (1u << kWidth) - 1u;
    for (int attempt = 0; waiting != 0 && attempt < svmf::kMaxProposals; ++attempt) {
      svmf::PhiloxBlock<svmf::WordOf<V>> blocks[kBlocks];
      for (int b = 0; b < kBlocks; ++b)
        blocks[b] =
            counters.block(static_cast<uint32_t>(attempt * kBlocks + b), svmf::kPurposeProposal);
      svmf::philox(blocks, seed);
      svmf::Cosine<V> cosine;
      const unsigned accepted =
          svmf::bitmask(svmf::wood_propose(blocks, row, dimension, &cosine)) & waiting;
      accepted_at[attempt] += __builtin_popcount(accepted);
      waiting &= ~accepted;
    }
    accepted_at[svmf::kMaxProposals] += __builtin_popcount(waiting);
  }
  for (const int64_t number : accepted_at) std::printf("%" PRId64 " ", number);
  std::printf("\n");
}

}  // namespace

int main(int arguments, char** text) {
  if (arguments != 6) return 2;
  const int64_t m = std::atoll(text[2]), rows = std::atoll(text[4]);
  const double kappa = std::atof(text[3]);
  const auto seed = std::strtoull(text[5], nullptr, 10);
  if (std::strcmp(text[1], "f32") == 0)
    count<float>(m, kappa, rows, seed);
  else
    count<double>(m, kappa, rows, seed);
  return 0;
}
