// SPDX-License-Identifier: MIT
// Backward pass of the sampler, fused: from the incoming gradient G and what the forward pass kept
// (z, 1-w, 1+w). The formulas are those of csrc/math/reflection.h, as on the CPU.
//
// The expensive number per sample, dw/dkappa, runs with thread = (tile of the block, sample, row):
// as few warps as there is work for, and the others wait. Then teams go along the rows: for the
// products with G, then for grad mu. Short rows (RunTeam) come to shared memory as runs and stay in
// registers between the two; long ones are read twice. A row's samples are added one after another
// by the same threads, so the sum has one order and needs no atomics. The families differ in
// dw/dkappa and in the KL alone: `Slopes`.
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

template <class T>
struct BackwardTask {
  SampleBackwardArguments<T> tensors;
  TeamSize team;
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

// What the vectors need to know of one sample.
template <class S>
struct PreparedSample {
  S w;
  S below;
  S step;   // (dw/dkappa)/(1-w^2)
  S extra;  // the correction's part of grad kappa
};

// Shared memory of a block: constants, prepared samples and KL's part of the tiles, exchange of
// sums, runs.
template <class S, class Team, class Slopes>
struct BackwardShared {
  static constexpr int kRun = Team::kRuns ? kColumnsPerThread * kWarpSize : 0;  // of one vector
  static constexpr size_t kConstants = padded_size(sizeof(typename Slopes::template Constants<S>));
  static constexpr size_t kTile = kWarpSize * (sizeof(PreparedSample<S>) + sizeof(S));  // per owner
  static constexpr size_t kExchange = Team::template exchange_bytes<S>(3);
  static constexpr size_t kBytes =
      kConstants + Team::kOwners * (kTile + 3 * kRun * sizeof(S)) + kExchange;

  __device__ static PreparedSample<S>* samples(int owner) {
    return reinterpret_cast<PreparedSample<S>*>(shared_memory<char>() + kConstants + owner * kTile);
  }
  __device__ static S* kl_part(int owner) {
    return reinterpret_cast<S*>(samples(owner) + kWarpSize);
  }
  __device__ static S* exchange() {
    return reinterpret_cast<S*>(shared_memory<char>() + kConstants + Team::kOwners * kTile);
  }
  // The run of one of three vectors.
  __device__ static S* run(const Team& team, int vector) {
    return exchange() + kExchange / sizeof(S) + (3 * team.owner_in_block() + vector) * kRun;
  }
};

// How w moves with kappa, and the slope of the KL, in the vMF family.
template <SampleGradient kGradient>
struct VmfSlopes {
  template <class S>
  using Constants = std::conditional_t<kGradient == SampleGradient::kPathwise, PathwiseConstants<S>,
                                       RejectionConstants<S>>;

  template <class T, class S>
  __device__ static PreparedSample<S> prepare(const SampleBackwardArguments<T>& tensors,
                                              int64_t row, S kappa) {
    const auto& constants = staged<Constants<S>>();
    const Cosine<S> c{tensors.below[row], tensors.above[row]};
    S derivative;
    if constexpr (kGradient == SampleGradient::kPathwise) {
      derivative = pathwise_derivative(c.below, c.above, kappa, constants.vmf, constants.pathwise);
    } else {
      derivative = rejection_derivative(c.below, c.above, kappa, constants.vmf.nu);
    }
    const S extra = tensors.grad_log_ratio == nullptr
                        ? S(0)
                        : S(tensors.grad_log_ratio[row]) *
                              log_ratio_derivative(c.below, c.above, kappa, constants.vmf);
    return {cosine_value(c), c.below, step_along_meridian(derivative, c.below, c.above), extra};
  }
  template <class S>
  __device__ static S of_kl(S kappa) {
    return evaluate_kappa_function<KappaFunction::kKlUniformGrad>(kappa,
                                                                  staged<Constants<S>>().vmf);
  }
};

// Short rows: one step of a tile, for the samples begin ... begin + here of its rows. grad_mu are
// the columns that this thread has, kept from one call to the next, like grad_kappa.
template <class Shared, class T, class S>
__device__ __forceinline__ void backward_runs(const RunTeam& team,
                                              const SampleBackwardArguments<T>& tensors,
                                              const TileRows& tile, int i, int64_t begin, int here,
                                              const PreparedSample<S>* prepared, int tile_rows,
                                              S* grad_kappa, S (&grad_mu)[kColumnsPerThread]) {
  const int m = static_cast<int>(tensors.m), count = tile.rows_of_step(team, i) * m;
  const int slot = tile.slot(team, i), start = (slot - i) * m;
  const S *const mu = Shared::run(team, 0) + start, *const g = Shared::run(team, 1) + start,
                 *const z = Shared::run(team, 2) + start;
  const int64_t first = (tile.first + i) * m;
  const auto load = [&](const T* from, int vector) {
    copy_run<kColumnsPerThread>(from, count, Shared::run(team, vector), from);
  };
  load(tensors.loc + first, 0);
  for (int s = 0; s < here; ++s) {
    const int64_t offset = (begin + s) * tensors.batch * m + first;
    load(tensors.grad_z + offset, 1);
    load(tensors.z + offset, 2);
    team.sync();
    S sums[3] = {S(0), S(0), S(0)};  // G.mu, G.z, G.(mu - z)
    S mu_j[kColumnsPerThread], g_j[kColumnsPerThread], z_j[kColumnsPerThread];
#pragma unroll
    for (int k = 0; k < kColumnsPerThread; ++k) {
      const int j = team.thread() + k * team.size();
      // Beyond the row there is still the run.
      const S mu_read = mu[j], g_read = g[j], z_read = z[j];
      mu_j[k] = j < m ? mu_read : S(0);
      g_j[k] = j < m ? g_read : S(0);
      z_j[k] = j < m ? z_read : S(0);
      sums[0] = mul_add(g_j[k], mu_j[k], sums[0]);
      sums[1] = mul_add(g_j[k], z_j[k], sums[1]);
      sums[2] = mul_add(g_j[k], mu_j[k] - z_j[k], sums[2]);
    }
    const S mu0 = mu[0], g0 = g[0], z0 = z[0];
    team.sync();  // everybody has read
    team.sum(sums, static_cast<S*>(nullptr));
    const PreparedSample<S> x = prepared[s * tile_rows + slot];
    const S along = gradient_along_meridian(x.below, sums[1], sums[2]);
    *grad_kappa = mul_add(x.step, along, *grad_kappa + x.extra);
    const ReflectionGradient<S> r = reflection_gradient(x.w, z0, g0, sums[0], mu0);
#pragma unroll
    for (int k = 0; k < kColumnsPerThread; ++k)
      grad_mu[k] = add_reflection_gradient(r, g_j[k], z_j[k], mu_j[k], grad_mu[k]);
  }
}

// Writes grad mu of the rows of a step as one run.
template <class Shared, class T, class S>
__device__ __forceinline__ void write_runs(const RunTeam& team,
                                           const SampleBackwardArguments<T>& tensors,
                                           const TileRows& tile, int i,
                                           const S (&grad_mu)[kColumnsPerThread]) {
  const int m = static_cast<int>(tensors.m), count = tile.rows_of_step(team, i) * m;
  S* const run = Shared::run(team, 1);
  if (tile.has_row(team, i)) {
#pragma unroll
    for (int k = 0; k < kColumnsPerThread; ++k) {
      const int j = team.thread() + k * team.size();
      if (j < m) run[team.row_at_once() * m + j] = grad_mu[k];
    }
  }
  team.sync();
  T* const to = tensors.grad_loc + (tile.first + i) * m;
  copy_run<kColumnsPerThread>(run, count, to, to);
}

// The same for long rows, which add to grad mu in memory.
template <class Shared, class Team, class T, class S>
__device__ __forceinline__ void backward_row(const Team& team,
                                             const SampleBackwardArguments<T>& tensors,
                                             const TileRows& tile, int i, int64_t begin, int here,
                                             const PreparedSample<S>* prepared, int tile_rows,
                                             S* grad_kappa) {
  const int m = static_cast<int>(tensors.m), slot = tile.slot(team, i);
  const int64_t b = tile.first + slot;
  const bool has_row = tile.has_row(team, i);
  const T* const mu = tensors.loc + b * m;
  T* const grad_loc = tensors.grad_loc + b * m;
  if (tensors.samples == 0 && has_row) {
    for (int j = team.thread(); j < m; j += team.size()) grad_loc[j] = S(0);
  }
  for (int s = 0; s < here; ++s) {
    const int64_t row = (begin + s) * tensors.batch + b;
    const T *const g = tensors.grad_z + row * m, *const z = tensors.z + row * m;
    S sums[3] = {S(0), S(0), S(0)};
    for (int j = team.thread(); j < m; j += team.size()) {
      const S g_j(g[j]), mu_j(mu[j]), z_j(z[j]);
      sums[0] = mul_add(g_j, mu_j, sums[0]);
      sums[1] = mul_add(g_j, z_j, sums[1]);
      sums[2] = mul_add(g_j, mu_j - z_j, sums[2]);
    }
    team.sum(sums, Shared::exchange());
    const PreparedSample<S> x = prepared[s * tile_rows + slot];
    const S along = gradient_along_meridian(x.below, sums[1], sums[2]);
    *grad_kappa = mul_add(x.step, along, *grad_kappa + x.extra);
    const ReflectionGradient<S> r = reflection_gradient(x.w, S(z[0]), S(g[0]), sums[0], S(mu[0]));
    if (has_row) {
      for (int j = team.thread(); j < m; j += team.size()) {
        const S before = begin + s == 0 ? S(0) : S(grad_loc[j]);
        grad_loc[j] = add_reflection_gradient(r, S(g[j]), S(z[j]), S(mu[j]), before);
      }
    }
  }
}

// Samples begin ... begin + here of the block's tiles, the first of which starts at `start`.
template <class Slopes, class Shared, class Team, class T>
__device__ __forceinline__ void prepare_tiles(const SampleBackwardArguments<T>& tensors,
                                              int64_t start, int tile_rows, int64_t begin,
                                              int here) {
  using S = ComputeType<T>;
  const int of_tile = tile_rows * here, thread = static_cast<int>(threadIdx.x);
  if (thread >= Team::kOwners * of_tile) return;
  const int owner = thread / of_tile, item = thread % of_tile;
  const int s = item / tile_rows, slot = item % tile_rows;
  const int64_t b = start + owner * tile_rows + slot;
  if (b >= tensors.batch) return;
  const S kappa = tensors.kappa[b];
  Shared::samples(owner)[item] = Slopes::prepare(tensors, (begin + s) * tensors.batch + b, kappa);
}

// KL's part of grad kappa, for all rows of the block's tiles.
template <class Slopes, class Shared, class Team, class T>
__device__ __forceinline__ void prepare_kl(const SampleBackwardArguments<T>& tensors, int64_t start,
                                           int tile_rows) {
  using S = ComputeType<T>;
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t b = start + thread;
  if (thread >= Team::kOwners * tile_rows || b >= tensors.batch) return;
  Shared::kl_part(thread / tile_rows)[thread % tile_rows] =
      tensors.grad_kl == nullptr ? S(0)
                                 : S(tensors.grad_kl[b]) * Slopes::of_kl(S(tensors.kappa[b]));
}

template <class Slopes, class Team, class T>
__device__ __forceinline__ void backward_tiles(const BackwardTask<T>& task) {
  using S = ComputeType<T>;
  using Shared = BackwardShared<S, Team, Slopes>;
  const Team team(task.team);
  const SampleBackwardArguments<T>& tensors = task.tensors;
  const int at_once = kWarpSize / task.tile_rows;
  const PreparedSample<S>* const prepared = Shared::samples(team.owner_in_block());
  const S* const kl_part = Shared::kl_part(team.owner_in_block());
  for_tiles_of_block(team, tensors.batch, task.tile_rows, [&](const TileRows& tile) {
    S grad_kappa(0);
    [[maybe_unused]] S grad_mu[kColumnsPerThread] = {};
    const int64_t start = tile.first - team.owner_in_block() * task.tile_rows;
    prepare_kl<Slopes, Shared, Team>(tensors, start, task.tile_rows);
    int64_t begin = 0;
    do {
      const int here =
          tensors.samples - begin < at_once ? static_cast<int>(tensors.samples - begin) : at_once;
      prepare_tiles<Slopes, Shared, Team>(tensors, start, task.tile_rows, begin, here);
      __syncthreads();
      // More than one step over the tile only where all samples are prepared at once: grad_kappa
      // and grad_mu are of one row.
      for (int i = 0; i < tile.count; i += team.rows_at_once()) {
        const int slot = tile.slot(team, i);
        if (begin == 0) {
          grad_kappa = kl_part[slot];
          for (S& column : grad_mu) column = S(0);
        }
        if constexpr (Team::kRuns) {
          backward_runs<Shared>(team, tensors, tile, i, begin, here, prepared, task.tile_rows,
                                &grad_kappa, grad_mu);
          if (begin + here == tensors.samples) write_runs<Shared>(team, tensors, tile, i, grad_mu);
        } else {
          backward_row<Shared>(team, tensors, tile, i, begin, here, prepared, task.tile_rows,
                               &grad_kappa);
        }
        if (tile.has_row(team, i) && team.thread() == 0 && begin + here == tensors.samples)
          tensors.grad_kappa[tile.first + slot] = grad_kappa;
        if constexpr (Team::kRuns) team.sync();  // the runs of the next step
      }
      __syncthreads();
      begin += at_once;
    } while (begin < tensors.samples);
  });
}

template <SampleGradient kGradient, class S>
using BackwardConstants = typename VmfSlopes<kGradient>::template Constants<S>;

template <class T, class Team, SampleGradient kGradient>
__global__ void __launch_bounds__(Team::kMaxThreads, kMinBlocks) vmf_sample_backward_kernel(
    const __grid_constant__ BackwardTask<T> task,
    const __grid_constant__ Parameter<BackwardConstants<kGradient, ComputeType<T>>> parameter) {
  stage(parameter);
  backward_tiles<VmfSlopes<kGradient>, Team>(task);
}

// The task of at least one row, and its plan. m is at most kMaxColumns.
template <class T>
BackwardTask<T> plan_backward(const SampleBackwardArguments<T>& arguments, TilePlan* plan) {
  *plan = plan_column_team(arguments.m);
  // The first warp prepares 32 samples at once: of as many rows as there are, or several of each
  // row. A row that needs more than one round of preparation is alone in its team's tile.
  const int most_samples = plan->block_team ? kWarpSize : plan->team.threads;
  const int samples =
      power_of_two_at_least(arguments.samples < most_samples ? arguments.samples : most_samples);
  *plan = plan_tiles(*plan, arguments.batch, kWarpSize / samples);
  return {arguments, plan->team, plan->tile_rows};
}

template <class T>
bool is_taken(const SampleBackwardArguments<T>& arguments) {
  const bool is_half = !std::is_same_v<ComputeType<T>, T>;
  return arguments.m <= kMaxColumns &&
         (!is_half || sample_backward_takes_halves(arguments.samples, arguments.m));
}

}  // namespace SVMF_ISA
}  // namespace svmf
