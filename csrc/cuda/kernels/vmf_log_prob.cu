// SPDX-License-Identifier: MIT
// The log density of the vMF distribution: csrc/math/vmf_log_prob.h.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/vmf_log_prob.h"

namespace svmf {

namespace {

struct LogProb : OfDistance {
  template <class S>
  __device__ static S apply(const DistanceTask<S>& task, int64_t row, S distance,
                            const VmfTable<S>& table) {
    return vmf_log_prob(task.kappa1[row], distance, table);
  }
};

}  // namespace

template <class S>
cudaError_t launch_vmf_log_prob(const S* value, const S* loc, const S* kappa, S* out, int64_t rows,
                                int64_t m, cudaStream_t stream) {
  return launch_row_distance<LogProb>(
      DistanceTask<S>{value, loc, kappa, nullptr, out, rows, m, 0, 0}, stream);
}

template cudaError_t launch_vmf_log_prob(const float*, const float*, const float*, float*, int64_t,
                                         int64_t, cudaStream_t);
template cudaError_t launch_vmf_log_prob(const double*, const double*, const double*, double*,
                                         int64_t, int64_t, cudaStream_t);

}  // namespace svmf
