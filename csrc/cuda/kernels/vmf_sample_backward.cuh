// SPDX-License-Identifier: MIT
// Backward pass of the sampler, fused: from the incoming gradient G and what the forward pass kept
// (z, 1-w, 1+w). The formulas are those of csrc/math/reflection.h, as on the CPU.
//
// The expensive number per sample, dw/dkappa, runs with lane = (row of the tile, sample); then
// teams go along the rows, once for the products with G and once for grad mu. A row's samples are
// added one after another by the same threads, so the sum has one order and needs no atomics.
#pragma once

#include <type_traits>

#include "cuda/kernels/launchers.h"
#include "cuda/kernels/staged.cuh"
#include "cuda/kernels/team.cuh"
#include "math/reflection.h"
#include "math/vmf_pathwise.h"
#include "math/wood.h"
#include "math/wood_gradients.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
struct BackwardTask {
  SampleBackwardArguments<S> tensors;
  int team_size;
  int tile_rows;  // T; 32/T samples of a row are prepared at once
};

template <class S>
struct PathwiseConstants {
  VmfTable<S> vmf;
  PathwiseTable<S> pathwise;
};
template <class S>
struct RejectionConstants {
  VmfTable<S> vmf;
};
template <SampleGradient kGradient, class S>
using BackwardConstants = std::conditional_t<kGradient == SampleGradient::kPathwise,
                                             PathwiseConstants<S>, RejectionConstants<S>>;

// What the vectors need to know of one sample.
template <class S>
struct PreparedSample {
  S w;
  S below;
  S step;   // (dw/dkappa)/(1-w^2)
  S extra;  // the correction's part of grad kappa
};

// Shared memory of a block: constants, prepared samples and KL's part of the tiles, exchange of
// sums.
template <class S, class Team, SampleGradient kGradient>
struct BackwardShared {
  static constexpr size_t kConstants = padded_size(sizeof(BackwardConstants<kGradient, S>));
  static constexpr size_t kTile = kWarpSize * (sizeof(PreparedSample<S>) + sizeof(S));  // per owner
  static constexpr size_t kBytes =
      kConstants + Team::kOwners * kTile + Team::template exchange_bytes<S>(3);

  __device__ static PreparedSample<S>* samples(const Team& team) {
    return reinterpret_cast<PreparedSample<S>*>(shared_memory<char>() + kConstants +
                                                team.owner_in_block() * kTile);
  }
  __device__ static S* kl_part(const Team& team) {
    return reinterpret_cast<S*>(samples(team) + kWarpSize);
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kConstants + Team::kOwners * kTile);
  }
};

template <SampleGradient kGradient, class S>
__device__ __forceinline__ PreparedSample<S> prepare_sample(
    const SampleBackwardArguments<S>& tensors, int64_t row, S kappa) {
  const auto& constants = staged<BackwardConstants<kGradient, S>>();
  const Cosine<S> c{tensors.below[row], tensors.above[row]};
  S derivative;
  if constexpr (kGradient == SampleGradient::kPathwise) {
    derivative = pathwise_derivative(c.below, c.above, kappa, constants.vmf, constants.pathwise);
  } else {
    derivative = rejection_derivative(c.below, c.above, kappa, constants.vmf.nu);
  }
  const S extra = tensors.grad_log_ratio == nullptr
                      ? S(0)
                      : tensors.grad_log_ratio[row] *
                            log_ratio_derivative(c.below, c.above, kappa, constants.vmf);
  return {cosine_value(c), c.below, step_along_meridian(derivative, c.below, c.above), extra};
}

template <class S, class Team, SampleGradient kGradient>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks)
    vmf_sample_backward_kernel(const __grid_constant__ BackwardTask<S> task,
                               const __grid_constant__ BackwardConstants<kGradient, S> parameter) {
  using Shared = BackwardShared<S, Team, kGradient>;
  const Team team(task.team_size);
  stage(parameter);
  const SampleBackwardArguments<S>& tensors = task.tensors;
  const int64_t m = tensors.m;
  const int at_once = kWarpSize / task.tile_rows;
  PreparedSample<S>* const prepared = Shared::samples(team);
  for_tiles(team, tensors.batch, task.tile_rows, [&](const TileRows& tile) {
    S grad_kappa(0);
    int64_t begin = 0;
    do {
      const int here =
          tensors.samples - begin < at_once ? static_cast<int>(tensors.samples - begin) : at_once;
      if (team.in_first_warp()) {
        const int lane = lane_in_warp(), slot = lane % task.tile_rows, s = lane / task.tile_rows;
        if (slot < tile.count) {
          const int64_t b = tile.first + slot;
          const S kappa = tensors.kappa[b];
          if (s < here)
            prepared[lane] =
                prepare_sample<kGradient>(tensors, (begin + s) * tensors.batch + b, kappa);
          if (s == 0 && begin == 0) {
            const VmfTable<S>& table = staged<BackwardConstants<kGradient, S>>().vmf;
            Shared::kl_part(team)[slot] =
                tensors.grad_kl == nullptr
                    ? S(0)
                    : tensors.grad_kl[b] *
                          evaluate_kappa_function<KappaFunction::kKlUniformGrad>(kappa, table);
          }
        }
      }
      team.sync();
      // More than one step over the tile only where all samples are prepared at once: grad_kappa is
      // of one row.
      for (int i = 0; i < tile.count; i += team.rows_at_once()) {
        const int slot = tile.slot(team, i);
        const bool has_row = tile.has_row(team, i);
        const int64_t b = tile.first + slot;
        const S* const mu = tensors.loc + b * m;
        S* const grad_loc = tensors.grad_loc + b * m;
        if (begin == 0) grad_kappa = Shared::kl_part(team)[slot];
        if (tensors.samples == 0 && has_row) {
          for (int64_t j = team.thread(); j < m; j += team.size()) grad_loc[j] = S(0);
        }
        for (int s = 0; s < here; ++s) {
          const int64_t row = (begin + s) * tensors.batch + b;
          const S *const g = tensors.grad_z + row * m, *const z = tensors.z + row * m;
          S sums[3] = {S(0), S(0), S(0)};  // G.mu, G.z, G.(mu - z)
          for (int64_t j = team.thread(); j < m; j += team.size()) {
            sums[0] = mul_add(g[j], mu[j], sums[0]);
            sums[1] = mul_add(g[j], z[j], sums[1]);
            sums[2] = mul_add(g[j], mu[j] - z[j], sums[2]);
          }
          team.sum(sums, Shared::exchange());
          const PreparedSample<S> x = prepared[s * task.tile_rows + slot];
          const S along = gradient_along_meridian(x.below, sums[1], sums[2]);
          grad_kappa = mul_add(x.step, along, grad_kappa + x.extra);
          const ReflectionGradient<S> r = reflection_gradient(x.w, z[0], g[0], sums[0], mu[0]);
          if (has_row) {
            for (int64_t j = team.thread(); j < m; j += team.size()) {
              const S before = begin + s == 0 ? S(0) : grad_loc[j];
              grad_loc[j] = add_reflection_gradient(r, g[j], z[j], mu[j], before);
            }
          }
        }
        if (has_row && team.thread() == 0 && begin + here == tensors.samples)
          tensors.grad_kappa[b] = grad_kappa;
      }
      team.sync();
      begin += at_once;
    } while (begin < tensors.samples);
  });
}

}  // namespace SVMF_ISA
}  // namespace svmf
