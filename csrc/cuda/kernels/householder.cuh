// SPDX-License-Identifier: MIT
// The Householder reflection of csrc/math/reflection.h and its backward pass, a team of threads per
// row: one pass for the projections on u = e1 - mu, one for the result. The second pass finds the
// row in the cache. Backward, with z = H x:
//   c = 2 u'x / u'u,   t = 2 u'g / u'u
//   grad_x = H g = g - t u
//   grad_mu = c g + t z
#pragma once

#include "common/half_types.h"
#include "cuda/kernels/shared_memory.cuh"
#include "cuda/kernels/team.cuh"
#include "math/reflection.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class T>
struct HouseholderTask {
  const T* grad;  // null: forward
  const T* x;
  const T* loc;
  T* out;       // z, or grad_x
  T* grad_loc;  // backward
  int64_t rows;
  int64_t m;
  TeamSize team;
  int tile_rows;
};

// Column j of u = e1 - mu.
template <class S, class T>
__device__ __forceinline__ S reflector(const T* mu, int j) {
  const S column(mu[j]);
  return j == 0 ? S(1) - column : -column;
}

template <class T, class Team, bool kBackward>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    householder_kernel(const __grid_constant__ HouseholderTask<T> task) {
  using S = ComputeType<T>;
  const Team team(task.team);
  const int m = static_cast<int>(task.m);
  for_tiles(team, task.rows, task.tile_rows, [&](const TileRows& tile) {
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      const int64_t offset = (tile.first + tile.slot(team, i)) * task.m;
      const T *const x = task.x + offset, *const mu = task.loc + offset,
                     *const g = kBackward ? task.grad + offset : nullptr;
      T* const out = task.out + offset;
      [[maybe_unused]] T* const grad_loc = kBackward ? task.grad_loc + offset : nullptr;
      S sums[kBackward ? 3 : 2] = {};
      for (int j = team.thread(); j < m; j += team.size()) {
        const S u = reflector<S>(mu, j);
        sums[0] = mul_add(u, u, sums[0]);
        sums[1] = mul_add(u, S(x[j]), sums[1]);
        if constexpr (kBackward) sums[2] = mul_add(u, S(g[j]), sums[2]);
      }
      team.sum(sums, shared_memory<S>());
      if (!tile.has_row(team, i)) continue;
      const S c = householder_coefficient(sums[1], sums[0]);
      for (int j = team.thread(); j < m; j += team.size()) {
        const S u = reflector<S>(mu, j);
        const S z = mul_add(-c, u, S(x[j]));
        if constexpr (kBackward) {
          const S t = householder_coefficient(sums[2], sums[0]);
          out[j] = mul_add(-t, u, S(g[j]));
          grad_loc[j] = mul_add(c, S(g[j]), t * z);
        } else {
          out[j] = z;
        }
      }
    }
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
