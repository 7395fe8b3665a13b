// SPDX-License-Identifier: MIT
// The log density of the vMF distribution: csrc/math/vmf_log_prob.h.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/vmf_log_prob.h"

namespace svmf {

namespace {

struct LogProb : OfDistance {
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance,
                            const VmfTable<S>& table) {
    return vmf_log_prob(S(task.kappa1[row]), distance, table);
  }
};

}  // namespace

template <class T>
cudaError_t launch_vmf_log_prob(const T* value, const T* loc, const T* kappa, T* out, int64_t rows,
                                int64_t m, cudaStream_t stream) {
  return launch_row_distance<LogProb>(
      DistanceTask<T>{value, loc, kappa, nullptr, out, rows, m, {}, 0}, stream);
}

#define SVMF_INSTANTIATE(T)                                                                    \
  template cudaError_t launch_vmf_log_prob(const T*, const T*, const T*, T*, int64_t, int64_t, \
                                           cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
