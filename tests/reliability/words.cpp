// SPDX-License-Identifier: MIT
// The random words of the sampler as a stream of bytes on the standard output, for tests of
// randomness (test_bit_stream.py; or `words rows 1 0 | dieharder -g 200 -a`).
//
//     words rows|blocks|seeds|normals SEED COUNT
//
// rows: block 0 of the rows 0, 1, 2, ...: what one call draws for the first proposals.
// blocks: the blocks 0, 1, 2, ... of row 0. seeds: block 0 of row 0 for the seeds SEED, SEED + 1,
// ... normals: block 0 for the direction, of the rows 0, 1, ... COUNT is the number of 32-bit words
// (a multiple of 4 is written); 0: without end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "math/philox.h"
#include "math/uniform.h"

int main(int arguments, char** text) {
  if (arguments != 4) return 2;
  const char* order = text[1];
  const auto seed = std::strtoull(text[2], nullptr, 10),
             count = std::strtoull(text[3], nullptr, 10);
  const bool blocks = std::strcmp(order, "blocks") == 0, seeds = std::strcmp(order, "seeds") == 0;
  const bool normals = std::strcmp(order, "normals") == 0;
  std::vector<uint32_t> buffer;
  for (uint64_t i = 0; count == 0 || 4 * i < count; ++i) {
    const uint64_t row = blocks || seeds ? 0 : i;
    svmf::PhiloxBlock<uint32_t> block[1] = {
        {{static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32),
          blocks ? static_cast<uint32_t>(i) : 0u,
          static_cast<uint32_t>(normals ? svmf::kPurposeDirection : svmf::kPurposeProposal)}}};
    svmf::philox(block, seeds ? seed + i : seed);
    buffer.insert(buffer.end(), block[0].word, block[0].word + 4);
    if (buffer.size() >= 1 << 16) {
      if (std::fwrite(buffer.data(), 4, buffer.size(), stdout) != buffer.size()) return 0;
      buffer.clear();
    }
  }
  std::fwrite(buffer.data(), 4, buffer.size(), stdout);
  return 0;
}
