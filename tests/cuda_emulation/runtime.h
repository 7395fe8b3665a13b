// SPDX-License-Identifier: MIT
// What a test sets before it launches kernels in the emulation.
#pragma once

#include <cstdint>

namespace emulation {

// The order in which the threads of a block, and the blocks of a grid, get their turns.
enum class Order { kForward, kReverse, kShuffled };

struct Settings {
  Order order = Order::kForward;
  uint64_t shuffle_seed = 1;
  int processors = 4;        // what cudaDevAttrMultiProcessorCount answers
  int launch_error = 0;      // a cudaError_t that every launch gives
  bool only_report = false;  // launches are described on the standard output and not run
};
Settings& settings();

}  // namespace emulation
