// SPDX-License-Identifier: MIT
// Raw features to mean directions and concentrations (csrc/math/features.h) and the gradients back,
// a team of threads per row: one pass for a sum, one for the result, which finds the row in the
// cache.
#pragma once

#include "common/sample_arguments.h"
#include "cuda/kernels/shared_memory.cuh"
#include "cuda/kernels/team.cuh"
#include "math/features.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
struct FeatureTask {
  FeatureArguments<S> features;
  TeamSize team;
  int tile_rows;
};

// The squared length as it stands, scaled up and scaled down: all at once, because the rows of a
// warp must not differ in the sums that they take part in.
template <class S, class Team>
__device__ __forceinline__ RowDirection<S> direction_of_row(const Team& team, const S* raw, int m,
                                                            S* scale) {
  S sums[3] = {};
  for (int j = team.thread(); j < m; j += team.size()) {
    const S up = raw[j] * features::kUp<S>, down = raw[j] * features::kDown<S>;
    sums[0] = mul_add(raw[j], raw[j], sums[0]);
    sums[1] = mul_add(up, up, sums[1]);
    sums[2] = mul_add(down, down, sums[2]);
  }
  team.sum(sums, shared_memory<S>());
  *scale = direction_scale(sums[0]);
  return row_direction(sums[*scale == S(1) ? 0 : *scale > S(1) ? 1 : 2], *scale);
}

template <class S, class Team, bool kBackward>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    features_kernel(const __grid_constant__ FeatureTask<S> task) {
  const Team team(task.team);
  const FeatureArguments<S>& f = task.features;
  const int m = static_cast<int>(f.m);
  for_tiles(team, f.batch, task.tile_rows, [&](const TileRows& tile) {
    for (int i = 0; i < tile.count; i += team.rows_at_once()) {
      const int64_t row = tile.first + tile.slot(team, i);
      S* const loc = f.loc + row * m;
      if constexpr (kBackward) {
        S* const grad = f.grad + row * m;
        S along[1] = {};
        for (int j = team.thread(); j < m; j += team.size())
          along[0] = mul_add(loc[j], grad[j], along[0]);
        team.sum(along, shared_memory<S>());
        if (!tile.has_row(team, i)) continue;
        const S slope = direction_slope(f.length[row]);
        for (int j = team.thread(); j < m; j += team.size())
          grad[j] = mul_add(-along[0], loc[j], grad[j]) * slope;
        if (team.thread() == 0)
          f.grad_kappa[row] *= softplus_slope(f.raw_kappa[row * f.raw_kappa_stride]);
      } else {
        const S* const raw = f.raw + row * f.raw_stride;
        S scale;
        const RowDirection<S> found = direction_of_row(team, raw, m, &scale);
        if (!tile.has_row(team, i)) continue;
        for (int j = team.thread(); j < m; j += team.size())
          loc[j] = raw[j] * scale * found.inverse + (j == 0 ? found.first : S(0));
        if (team.thread() == 0) {
          f.length[row] = found.length;
          f.kappa[row] = f.offset + softplus(f.raw_kappa[row * f.raw_kappa_stride]);
        }
      }
    }
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
