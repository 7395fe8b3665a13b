// SPDX-License-Identifier: MIT
// dw/dkappa at fixed probability for given w, one value per lane.
#include <algorithm>

#include "common/pathwise_tables.h"
#include "cpu/kernels/rows.h"
#include "math/vmf_pathwise.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void vmf_pathwise_rows(const S* w, const S* kappa, S* out, int64_t n, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const VmfTable<S> table = make_vmf_table<S>(m);
  const PathwiseTable<S> pathwise = pathwise_table<S>(m);
  for (int64_t i = 0; i < n; i += kWidth) {
    const int64_t count = std::min(kWidth, n - i);
    const V w_lanes = V::load_first(w + i, count, S(0));
    const V kappa_lanes = V::load_first(kappa + i, count, S(1));
    pathwise_derivative(V(1) - w_lanes, V(1) + w_lanes, kappa_lanes, table, pathwise)
        .store_first(out + i, count);
  }
}

template void vmf_pathwise_rows(const float*, const float*, float*, int64_t, int64_t);
template void vmf_pathwise_rows(const double*, const double*, double*, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
