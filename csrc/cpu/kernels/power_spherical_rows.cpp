// SPDX-License-Identifier: MIT
// Functions of kappa of the power spherical distribution, one value per lane, and its log density
// (csrc/math/power_spherical.h), lane = row; the distances run along the rows.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/power_spherical.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void power_spherical_rows(PowerFunction function, const S* kappa, S* out, int64_t n, int64_t m) {
  const PowerTable<S> table = make_power_table<S>(m);
  with_constant(function, [&](auto chosen) {
    map_lanes(kappa, out, n,
              [&](auto x) { return evaluate_power_function<decltype(chosen)::value>(x, table); });
  });
}

template <class S>
void power_spherical_log_prob_rows(const S* value, const S* loc, const S* kappa, S* out,
                                   int64_t rows, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const PowerTable<S> table = make_power_table<S>(m);
  for (int64_t r = 0; r < rows; r += kWidth) {
    const int64_t count = std::min(kWidth, rows - r);
    alignas(64) S apart[kWidth] = {}, opposite[kWidth] = {};
    for (int64_t i = 0; i < count; ++i) {
      squared_distances(value + (r + i) * m, loc + (r + i) * m, m, &apart[i], &opposite[i]);
    }
    const V x = V::load_first(kappa + r, count, S(0.5));
    power_log_prob(x, V::load(apart), V::load(opposite), table).store_first(out + r, count);
  }
}

template void power_spherical_rows(PowerFunction, const float*, float*, int64_t, int64_t);
template void power_spherical_rows(PowerFunction, const double*, double*, int64_t, int64_t);
template void power_spherical_log_prob_rows(const float*, const float*, const float*, float*,
                                            int64_t, int64_t);
template void power_spherical_log_prob_rows(const double*, const double*, const double*, double*,
                                            int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
