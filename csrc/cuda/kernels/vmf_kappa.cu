// SPDX-License-Identifier: MIT
// Functions of kappa for one m, one element per thread: csrc/math/vmf_kappa.h and
// vmf_concentration.h.
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "math/vmf_concentration.h"
#include "math/vmf_kappa.h"

namespace svmf {

namespace {

template <KappaFunction kFunction, class S>
struct FunctionOfKappa {
  using Constants = VmfTable<S>;
  __device__ static S apply(const VmfTable<S>& table, S kappa) {
    return evaluate_kappa_function<kFunction>(kappa, table);
  }
};

template <class S>
struct Concentration {
  using Constants = VmfTable<S>;
  __device__ static S apply(const VmfTable<S>& table, S mean_length) {
    return vmf_concentration(mean_length, table);
  }
};

}  // namespace

template <class T>
cudaError_t launch_vmf_kappa(KappaFunction function, const T* kappa, T* out, int64_t n, int64_t m,
                             cudaStream_t stream) {
  using S = ComputeType<T>;
  const VmfTable<S> table = make_vmf_table<S>(m);
  return with_constant(function, [&](auto chosen) {
    return launch_elements<FunctionOfKappa<decltype(chosen)::value, S>>(table, out, n, stream,
                                                                        kappa);
  });
}

template <class T>
cudaError_t launch_vmf_concentration(const T* mean_length, T* out, int64_t n, int64_t m,
                                     cudaStream_t stream) {
  using S = ComputeType<T>;
  return launch_elements<Concentration<S>>(make_vmf_table<S>(m), out, n, stream, mean_length);
}

#define SVMF_INSTANTIATE(T)                                                            \
  template cudaError_t launch_vmf_kappa(KappaFunction, const T*, T*, int64_t, int64_t, \
                                        cudaStream_t);                                 \
  template cudaError_t launch_vmf_concentration(const T*, T*, int64_t, int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
