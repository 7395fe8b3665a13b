// SPDX-License-Identifier: MIT
// Functions of kappa alone, one value per lane.
#include "cpu/kernels/rows.h"
#include "math/vmf_concentration.h"
#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class S>
void vmf_kappa_rows(KappaFunction function, const S* kappa, S* out, int64_t n, int64_t m) {
  const VmfTable<S> table = make_vmf_table<S>(m);
  with_constant(function, [&](auto chosen) {
    map_lanes(kappa, out, n,
              [&](auto k) { return evaluate_kappa_function<decltype(chosen)::value>(k, table); });
  });
}

template <class S>
void vmf_concentration_rows(const S* mean_length, S* out, int64_t n, int64_t m) {
  const VmfTable<S> table = make_vmf_table<S>(m);
  map_lanes(mean_length, out, n, [&](auto r) { return vmf_concentration(r, table); });
}

template void vmf_kappa_rows(KappaFunction, const float*, float*, int64_t, int64_t);
template void vmf_kappa_rows(KappaFunction, const double*, double*, int64_t, int64_t);
template void vmf_concentration_rows(const float*, float*, int64_t, int64_t);
template void vmf_concentration_rows(const double*, double*, int64_t, int64_t);

}  // namespace SVMF_ISA
}  // namespace svmf
