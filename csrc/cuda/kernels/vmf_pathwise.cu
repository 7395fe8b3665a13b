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

template <class S>
cudaError_t launch_vmf_pathwise(const S* w, const S* kappa, S* out, int64_t n, int64_t m,
                                cudaStream_t stream) {
  return launch_elements<PathwiseDerivative<S>>({make_vmf_table<S>(m), pathwise_table<S>(m)}, out,
                                                n, stream, w, kappa);
}

template cudaError_t launch_vmf_pathwise(const float*, const float*, float*, int64_t, int64_t,
                                         cudaStream_t);
template cudaError_t launch_vmf_pathwise(const double*, const double*, double*, int64_t, int64_t,
                                         cudaStream_t);

}  // namespace svmf
