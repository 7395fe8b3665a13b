// SPDX-License-Identifier: MIT
// dw/dkappa at fixed probability for given w, one element per thread: csrc/math/vmf_pathwise.h.
#include "common/pathwise_tables.h"
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "math/vmf_pathwise.h"

namespace svmf {

namespace {

template <class S>
struct PathwiseDerivative {
  struct Constants {
    VmfTable<S> vmf;
    PathwiseTable<S> pathwise;
  };
  __device__ static S apply(const Constants& constants, S w, S kappa) {
    return pathwise_derivative(S(1) - w, S(1) + w, kappa, constants.vmf, constants.pathwise);
  }
};

}  // namespace

template <class T>
cudaError_t launch_vmf_pathwise(const T* w, const T* kappa, T* out, int64_t n, int64_t m,
                                cudaStream_t stream) {
  using S = ComputeType<T>;
  return launch_elements<PathwiseDerivative<S>>({make_vmf_table<S>(m), pathwise_table<S>(m)}, out,
                                                n, stream, w, kappa);
}

#define SVMF_INSTANTIATE(T) \
  template cudaError_t launch_vmf_pathwise(const T*, const T*, T*, int64_t, int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
