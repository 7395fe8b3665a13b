// SPDX-License-Identifier: MIT
// Row loops of this instruction set, declared once; row_kernels.cpp collects them into its table.
#pragma once

#include <cstdint>

#include "common/sample_arguments.h"
#include "simd/twin.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void vmf_kappa_rows(KappaFunction function, const S* kappa, S* out, int64_t n, int64_t m);
template <class S>
void log_bessel_rows(BesselFunction function, double order, const S* x, S* out, int64_t n);
template <class S>
void log_bessel_orders_rows(BesselFunction function, const S* order, const S* x, S* out, int64_t n);
template <class S>
void vmf_concentration_rows(const S* mean_length, S* out, int64_t n, int64_t m);
template <class S>
void vmf_pathwise_rows(const S* w, const S* kappa, S* out, int64_t n, int64_t m);
template <class S>
void vmf_kl_rows(const S* loc1, const S* kappa1, const S* loc2, const S* kappa2, S* out,
                 int64_t rows, int64_t m);
template <class S>
void householder_rows(const S* x, const S* loc, S* z, int64_t rows, int64_t m);
template <class S>
void householder_backward_rows(const S* grad, const S* x, const S* loc, S* grad_x, S* grad_loc,
                               int64_t rows, int64_t m);

template <class S>
void vmf_log_prob_rows(const S* value, const S* loc, const S* kappa, S* out, int64_t rows,
                       int64_t m);
template <class S>
void spherical_cauchy_rows(RhoFunction function, const S* rho, S* out, int64_t n, int64_t m);
template <class S>
void spherical_cauchy_log_prob_rows(const S* value, const S* loc, const S* rho, S* out,
                                    int64_t rows, int64_t m);
template <class S>
void power_spherical_rows(PowerFunction function, const S* kappa, S* out, int64_t n, int64_t m);
template <class S>
void power_spherical_log_prob_rows(const S* value, const S* loc, const S* kappa, S* out,
                                   int64_t rows, int64_t m);
template <class S>
void vmf_sample_rows(const SampleArguments<S>& task, int64_t begin, int64_t end);
template <class S>
void vmf_sample_backward_rows(const SampleBackwardArguments<S>& task, int64_t begin, int64_t end);
template <class S>
void vmf_features_rows(const FeatureArguments<S>& task, int64_t begin, int64_t end);
template <class S>
void vmf_features_backward_rows(const FeatureArguments<S>& task, int64_t begin, int64_t end);

// |a - b|^2 of two rows.
template <class S>
SVMF_INLINE S squared_distance(const S* a, const S* b, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  V sum(0);
  int64_t j = 0;
  for (; j + kWidth <= m; j += kWidth) {
    const V difference = V::load(a + j) - V::load(b + j);
    sum = mul_add(difference, difference, sum);
  }
  S total = sum_lanes(sum);
  for (; j < m; ++j) total += (a[j] - b[j]) * (a[j] - b[j]);
  return total;
}

// |a - b|^2 and |a + b|^2 of two rows.
template <class S>
SVMF_INLINE void squared_distances(const S* a, const S* b, int64_t m, S* apart, S* opposite) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  V difference_sum(0), sum_sum(0);
  int64_t j = 0;
  for (; j + kWidth <= m; j += kWidth) {
    const V x = V::load(a + j), y = V::load(b + j), difference = x - y, sum = x + y;
    difference_sum = mul_add(difference, difference, difference_sum);
    sum_sum = mul_add(sum, sum, sum_sum);
  }
  *apart = sum_lanes(difference_sum);
  *opposite = sum_lanes(sum_sum);
  for (; j < m; ++j) {
    *apart += (a[j] - b[j]) * (a[j] - b[j]);
    *opposite += (a[j] + b[j]) * (a[j] + b[j]);
  }
}

// out[i] = f(x[i]), two registers at a time; the tail is padded with 1, which every function here
// accepts.
template <class S, class F>
SVMF_INLINE void map_lanes(const S* x, S* out, int64_t n, F f) {
  using V = Twin<RowVec<S>>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) f(V::load(x + i)).store(out + i);
  if (i < n) f(V::load_first(x + i, n - i, S(1))).store_first(out + i, n - i);
}

}  // namespace SVMF_ISA
}  // namespace svmf
