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

template <class S>
cudaError_t launch_vmf_kappa(KappaFunction function, const S* kappa, S* out, int64_t n, int64_t m,
                             cudaStream_t stream) {
  const VmfTable<S> table = make_vmf_table<S>(m);
  return with_constant(function, [&](auto chosen) {
    return launch_elements<FunctionOfKappa<decltype(chosen)::value, S>>(table, out, n, stream,
                                                                        kappa);
  });
}

template <class S>
cudaError_t launch_vmf_concentration(const S* mean_length, S* out, int64_t n, int64_t m,
                                     cudaStream_t stream) {
  return launch_elements<Concentration<S>>(make_vmf_table<S>(m), out, n, stream, mean_length);
}

template cudaError_t launch_vmf_kappa(KappaFunction, const float*, float*, int64_t, int64_t,
                                      cudaStream_t);
template cudaError_t launch_vmf_kappa(KappaFunction, const double*, double*, int64_t, int64_t,
                                      cudaStream_t);
template cudaError_t launch_vmf_concentration(const float*, float*, int64_t, int64_t, cudaStream_t);
template cudaError_t launch_vmf_concentration(const double*, double*, int64_t, int64_t,
                                              cudaStream_t);

}  // namespace svmf
