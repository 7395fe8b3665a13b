// SPDX-License-Identifier: MIT
// Launches the sampler.
#include "cuda/kernels/vmf_sample.cuh"

namespace svmf {

namespace {

template <bool kWithKl, class T>
cudaError_t launch(const SampleArguments<T>& arguments, cudaStream_t stream) {
  TilePlan plan;
  const SampleTask<T> task = plan_sample(arguments, &plan);
  SampleTable<kWithKl, ComputeType<T>> table{};
  if constexpr (kWithKl) table.value = make_vmf_table<ComputeType<T>>(arguments.m);
  return with_team(plan, [&](auto chosen) {
    using Team = typename decltype(chosen)::type;
    return launch_kernel(vmf_sample_kernel<T, Team, kWithKl>, plan.blocks, plan.block,
                         sample_bytes<Team, kWithKl>(task, plan), stream, task, table);
  });
}

}  // namespace

template <class T>
cudaError_t launch_vmf_sample(const SampleArguments<T>& arguments, cudaStream_t stream) {
  if (arguments.samples * arguments.batch == 0) {
    if (arguments.kl == nullptr) return cudaSuccess;
    return launch_vmf_kappa(KappaFunction::kKlUniform, arguments.kappa, arguments.kl,
                            arguments.batch, arguments.m, stream);
  }
  if (!is_taken(arguments)) return cudaErrorInvalidValue;
  return arguments.kl ? launch<true>(arguments, stream) : launch<false>(arguments, stream);
}

#define SVMF_INSTANTIATE(T) \
  template cudaError_t launch_vmf_sample(const SampleArguments<T>&, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
