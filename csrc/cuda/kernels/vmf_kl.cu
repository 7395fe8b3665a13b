// SPDX-License-Identifier: MIT
// KL between two vMF distributions: csrc/math/vmf_kl.h.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/vmf_kl.h"

namespace svmf {

namespace {

struct Kl : OfDistance {
  template <class S>
  __device__ static S apply(const DistanceTask<S>& task, int64_t row, S distance,
                            const VmfTable<S>& table) {
    return vmf_kl(task.kappa1[row], task.kappa2[row], distance, table);
  }
};

}  // namespace

template <class S>
cudaError_t launch_vmf_kl(const S* loc1, const S* kappa1, const S* loc2, const S* kappa2, S* out,
                          int64_t rows, int64_t m, cudaStream_t stream) {
  return launch_row_distance<Kl>(DistanceTask<S>{loc1, loc2, kappa1, kappa2, out, rows, m, 0, 0},
                                 stream);
}

template cudaError_t launch_vmf_kl(const float*, const float*, const float*, const float*, float*,
                                   int64_t, int64_t, cudaStream_t);
template cudaError_t launch_vmf_kl(const double*, const double*, const double*, const double*,
                                   double*, int64_t, int64_t, cudaStream_t);

}  // namespace svmf
