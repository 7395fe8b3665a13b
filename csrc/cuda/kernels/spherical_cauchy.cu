// SPDX-License-Identifier: MIT
// Functions of rho of the spherical Cauchy distribution, one element per thread, and its log density:
// csrc/math/spherical_cauchy.h.
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/spherical_cauchy.h"

namespace svmf {

namespace {

template <RhoFunction kFunction, class S>
struct FunctionOfRho {
  using Constants = CauchyTable<S>;
  __device__ static S apply(const Constants& table, S rho) {
    return evaluate_rho_function<kFunction>(rho, table);
  }
};

struct CauchyLogProb {
  template <class S>
  using Table = CauchyTable<S>;
  static constexpr bool kBothPoles = false;
  template <class S>
  static Table<S> make(int64_t m) {
    return make_cauchy_table<S>(m);
  }
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance,
                            const Table<S>& table) {
    return cauchy_log_prob(S(task.kappa1[row]), distance, table);
  }
};

}  // namespace

template <class T>
cudaError_t launch_spherical_cauchy(RhoFunction function, const T* rho, T* out, int64_t n,
                                    int64_t m, cudaStream_t stream) {
  using S = ComputeType<T>;
  const CauchyTable<S> table = make_cauchy_table<S>(m);
  return with_constant(function, [&](auto chosen) {
    return launch_elements<FunctionOfRho<decltype(chosen)::value, S>>(table, out, n, stream, rho);
  });
}

template <class T>
cudaError_t launch_spherical_cauchy_log_prob(const T* value, const T* loc, const T* rho, T* out,
                                             int64_t rows, int64_t m, cudaStream_t stream) {
  return launch_row_distance<CauchyLogProb>(
      DistanceTask<T>{value, loc, rho, nullptr, out, rows, m, 0, 0}, stream);
}

#define SVMF_INSTANTIATE(T)                                                                        \
  template cudaError_t launch_spherical_cauchy(RhoFunction, const T*, T*, int64_t, int64_t,        \
                                               cudaStream_t);                                      \
  template cudaError_t launch_spherical_cauchy_log_prob(const T*, const T*, const T*, T*, int64_t, \
                                                        int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
