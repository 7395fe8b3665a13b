// SPDX-License-Identifier: MIT
// log density of the vMF distribution (csrc/math/vmf_log_prob.h), lane = row; the distances run
// along the rows.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/vmf_log_prob.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void vmf_log_prob_rows(const S* value, const S* loc, const S* kappa, S* out, int64_t rows,
                       int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const VmfTable<S> table = make_vmf_table<S>(m);
  for (int64_t r = 0; r < rows; r += kWidth) {
    const int64_t count = std::min(kWidth, rows - r);
    alignas(64) S distance[kWidth] = {};
    for (int64_t i = 0; i < count; ++i)
      distance[i] = squared_distance(value + (r + i) * m, loc + (r + i) * m, m);
    const V k = V::load_first(kappa + r, count, S(1));
    vmf_log_prob(k, V::load(distance), table).store_first(out + r, count);
  }
}

template void vmf_log_prob_rows(const float*, const float*, const float*, float*, int64_t, int64_t);
template void vmf_log_prob_rows(const double*, const double*, const double*, double*, int64_t,
                                int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
