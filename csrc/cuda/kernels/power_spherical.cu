// SPDX-License-Identifier: MIT
// Functions of kappa of the power spherical distribution, one element per thread, and its log density:
// csrc/math/power_spherical.h.
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/power_spherical.h"

namespace svmf {

namespace {

template <PowerFunction kFunction, class S>
struct FunctionOfKappa {
  using Constants = PowerTable<S>;
  __device__ static S apply(const Constants& table, S kappa) {
    return evaluate_power_function<kFunction>(kappa, table);
  }
};

struct PowerLogProb {
  template <class S>
  using Table = PowerTable<S>;
  static constexpr bool kBothPoles = true;
  template <class S>
  static Table<S> make(int64_t m) {
    return make_power_table<S>(m);
  }
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance, S opposite,
                            const Table<S>& table) {
    return power_log_prob(S(task.kappa1[row]), distance, opposite, table);
  }
};

}  // namespace

template <class T>
cudaError_t launch_power_spherical(PowerFunction function, const T* kappa, T* out, int64_t n,
                                   int64_t m, cudaStream_t stream) {
  using S = ComputeType<T>;
  const PowerTable<S> table = make_power_table<S>(m);
  return with_constant(function, [&](auto chosen) {
    return launch_elements<FunctionOfKappa<decltype(chosen)::value, S>>(table, out, n, stream,
                                                                        kappa);
  });
}

template <class T>
cudaError_t launch_power_spherical_log_prob(const T* value, const T* loc, const T* kappa, T* out,
                                            int64_t rows, int64_t m, cudaStream_t stream) {
  return launch_row_distance<PowerLogProb>(
      DistanceTask<T>{value, loc, kappa, nullptr, out, rows, m, 0, 0}, stream);
}

#define SVMF_INSTANTIATE(T)                                                                       \
  template cudaError_t launch_power_spherical(PowerFunction, const T*, T*, int64_t, int64_t,      \
                                              cudaStream_t);                                      \
  template cudaError_t launch_power_spherical_log_prob(const T*, const T*, const T*, T*, int64_t, \
                                                       int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
