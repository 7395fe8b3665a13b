// SPDX-License-Identifier: MIT
// Functions of rho of the spherical Cauchy distribution, one value per lane, and its log density
// (csrc/math/spherical_cauchy.h), lane = row; the distances run along the rows.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/spherical_cauchy.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void spherical_cauchy_rows(RhoFunction function, const S* rho, S* out, int64_t n, int64_t m) {
  const CauchyTable<S> table = make_cauchy_table<S>(m);
  with_constant(function, [&](auto chosen) {
    map_lanes(rho, out, n,
              [&](auto x) { return evaluate_rho_function<decltype(chosen)::value>(x, table); });
  });
}

template <class S>
void spherical_cauchy_log_prob_rows(const S* value, const S* loc, const S* rho, S* out,
                                    int64_t rows, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const CauchyTable<S> table = make_cauchy_table<S>(m);
  for (int64_t r = 0; r < rows; r += kWidth) {
    const int64_t count = std::min(kWidth, rows - r);
    alignas(64) S distance[kWidth] = {};
    for (int64_t i = 0; i < count; ++i)
      distance[i] = squared_distance(value + (r + i) * m, loc + (r + i) * m, m);
    const V x = V::load_first(rho + r, count, S(0.5));
    cauchy_log_prob(x, V::load(distance), table).store_first(out + r, count);
  }
}

template void spherical_cauchy_rows(RhoFunction, const float*, float*, int64_t, int64_t);
template void spherical_cauchy_rows(RhoFunction, const double*, double*, int64_t, int64_t);
template void spherical_cauchy_log_prob_rows(const float*, const float*, const float*, float*,
                                             int64_t, int64_t);
template void spherical_cauchy_log_prob_rows(const double*, const double*, const double*, double*,
                                             int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
