// SPDX-License-Identifier: MIT
// KL between two vMF distributions: distances of the mean directions per row, then the kappa part a
// register at a time.
#include <algorithm>

#include "cpu/kernels/rows.h"
#include "math/vmf_kl.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void vmf_kl_rows(const S* loc1, const S* kappa1, const S* loc2, const S* kappa2, S* out,
                 int64_t rows, int64_t m) {
  using V = RowVec<S>;
  constexpr int64_t kWidth = Lanes<V>::kWidth;
  const VmfTable<S> table = make_vmf_table<S>(m);
  for (int64_t r = 0; r < rows; r += kWidth) {
    const int64_t count = std::min(kWidth, rows - r);
    alignas(64) S distance[kWidth] = {};
    for (int64_t i = 0; i < count; ++i)
      distance[i] = squared_distance(loc1 + (r + i) * m, loc2 + (r + i) * m, m);
    vmf_kl(V::load_first(kappa1 + r, count, S(1)), V::load_first(kappa2 + r, count, S(1)),
           V::load(distance), table)
        .store_first(out + r, count);
  }
}

template void vmf_kl_rows(const float*, const float*, const float*, const float*, float*, int64_t,
                          int64_t);
template void vmf_kl_rows(const double*, const double*, const double*, const double*, double*,
                          int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
