// SPDX-License-Identifier: MIT
// KL between two vMF distributions: csrc/math/vmf_kl.h.
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/vmf_kl.h"

namespace svmf {

namespace {

struct Kl : OfDistance {
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance,
                            const VmfTable<S>& table) {
    return vmf_kl(S(task.kappa1[row]), S(task.kappa2[row]), distance, table);
  }
};

}  // namespace

template <class T>
cudaError_t launch_vmf_kl(const T* loc1, const T* kappa1, const T* loc2, const T* kappa2, T* out,
                          int64_t rows, int64_t m, cudaStream_t stream) {
  return launch_row_distance<Kl>(DistanceTask<T>{loc1, loc2, kappa1, kappa2, out, rows, m, {}, 0},
                                 stream);
}

#define SVMF_INSTANTIATE(T)                                                                        \
  template cudaError_t launch_vmf_kl(const T*, const T*, const T*, const T*, T*, int64_t, int64_t, \
                                     cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
