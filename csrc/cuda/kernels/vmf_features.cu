// SPDX-License-Identifier: MIT
// Launches the conversion of raw features and its backward pass.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/vmf_features.cuh"

namespace svmf {

namespace {

template <bool kBackward, class S>
cudaError_t launch(const FeatureArguments<S>& features, cudaStream_t stream) {
  if (features.batch == 0) return cudaSuccess;
  if (features.m > kMaxColumns) return cudaErrorInvalidValue;
  const TilePlan plan = plan_tiles(plan_column_team(features.m), features.batch, 1);
  const FeatureTask<S> task{features, plan.team, plan.tile_rows};
  if (plan.block_team) {
    return launch_kernel(features_kernel<S, BlockTeam, kBackward>, plan.blocks, plan.block,
                         BlockTeam::exchange_bytes<S>(kBackward ? 1 : 3), stream, task);
  }
  return launch_kernel(features_kernel<S, WarpTeam, kBackward>, plan.blocks, plan.block, 0, stream,
                       task);
}

}  // namespace

template <class S>
cudaError_t launch_vmf_features(const FeatureArguments<S>& arguments, cudaStream_t stream) {
  return launch<false>(arguments, stream);
}

template <class S>
cudaError_t launch_vmf_features_backward(const FeatureArguments<S>& arguments,
                                         cudaStream_t stream) {
  return launch<true>(arguments, stream);
}

#define SVMF_INSTANTIATE(S)                                                           \
  template cudaError_t launch_vmf_features(const FeatureArguments<S>&, cudaStream_t); \
  template cudaError_t launch_vmf_features_backward(const FeatureArguments<S>&, cudaStream_t);
SVMF_INSTANTIATE(float)
SVMF_INSTANTIATE(double)

}  // namespace svmf
