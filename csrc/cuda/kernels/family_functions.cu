// SPDX-License-Identifier: MIT
// The families beside the vMF: functions of their concentration, one element per thread, and their
// log densities (csrc/math/spherical_cauchy.h and power_spherical.h).
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launchers.h"
#include "cuda/kernels/row_distance.cuh"
#include "math/power_spherical.h"
#include "math/spherical_cauchy.h"

namespace svmf {

namespace {

// apply: the log density, for row_distance.cuh.
struct SphericalCauchy {
  template <class S>
  using Table = CauchyTable<S>;
  template <class S>
  static Table<S> make(int64_t m) {
    return make_cauchy_table<S>(m);
  }
  template <RhoFunction kFunction, class S>
  __device__ static S evaluate(S rho, const Table<S>& table) {
    return evaluate_rho_function<kFunction>(rho, table);
  }
  static constexpr bool kBothPoles = false;
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance,
                            const Table<S>& table) {
    return cauchy_log_prob(S(task.kappa1[row]), distance, table);
  }
};

struct PowerSpherical {
  template <class S>
  using Table = PowerTable<S>;
  template <class S>
  static Table<S> make(int64_t m) {
    return make_power_table<S>(m);
  }
  template <PowerFunction kFunction, class S>
  __device__ static S evaluate(S kappa, const Table<S>& table) {
    return evaluate_power_function<kFunction>(kappa, table);
  }
  static constexpr bool kBothPoles = true;
  template <class T, class S>
  __device__ static S apply(const DistanceTask<T>& task, int64_t row, S distance, S opposite,
                            const Table<S>& table) {
    return power_log_prob(S(task.kappa1[row]), distance, opposite, table);
  }
};

template <class OfFamily, auto kFunction, class S>
struct FamilyFunction {
  using Constants = typename OfFamily::template Table<S>;
  __device__ static S apply(const Constants& table, S x) {
    return OfFamily::template evaluate<kFunction>(x, table);
  }
};

template <class OfFamily, class Function, class T>
cudaError_t launch(Function function, const T* x, T* out, int64_t n, int64_t m,
                   cudaStream_t stream) {
  using S = ComputeType<T>;
  const auto table = OfFamily::template make<S>(m);
  return with_constant(function, [&](auto chosen) {
    return launch_elements<FamilyFunction<OfFamily, decltype(chosen)::value, S>>(table, out, n,
                                                                                 stream, x);
  });
}

}  // namespace

template <class T>
cudaError_t launch_family_function(RhoFunction function, const T* rho, T* out, int64_t n, int64_t m,
                                   cudaStream_t stream) {
  return launch<SphericalCauchy>(function, rho, out, n, m, stream);
}

template <class T>
cudaError_t launch_family_function(PowerFunction function, const T* kappa, T* out, int64_t n,
                                   int64_t m, cudaStream_t stream) {
  return launch<PowerSpherical>(function, kappa, out, n, m, stream);
}

template <class T>
cudaError_t launch_family_log_prob(Family family, const T* value, const T* loc, const T* parameter,
                                   T* out, int64_t rows, int64_t m, cudaStream_t stream) {
  const DistanceTask<T> task{value, loc, parameter, nullptr, out, rows, m, {}, 0};
  return family == Family::kSphericalCauchy ? launch_row_distance<SphericalCauchy>(task, stream)
                                            : launch_row_distance<PowerSpherical>(task, stream);
}

#define SVMF_INSTANTIATE(T)                                                                      \
  template cudaError_t launch_family_function(RhoFunction, const T*, T*, int64_t, int64_t,       \
                                              cudaStream_t);                                     \
  template cudaError_t launch_family_function(PowerFunction, const T*, T*, int64_t, int64_t,     \
                                              cudaStream_t);                                     \
  template cudaError_t launch_family_log_prob(Family, const T*, const T*, const T*, T*, int64_t, \
                                              int64_t, cudaStream_t);
SVMF_STORED_TYPES(SVMF_INSTANTIATE)

}  // namespace svmf
