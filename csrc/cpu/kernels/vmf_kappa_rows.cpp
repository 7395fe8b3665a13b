// SPDX-License-Identifier: MIT
// Functions of kappa alone, one value per lane.
#include "cpu/kernels/rows.h"
#include "math/vmf_concentration.h"
#include "math/vmf_kappa.h"

namespace svmf {
inline namespace SVMF_ISA {

namespace {

template <KappaFunction kFunction, class S>
void loop(const S* kappa, S* out, int64_t n, int64_t m) {
  const VmfTable<S> table = make_vmf_table<S>(m);
  map_lanes(kappa, out, n, [&](auto k) { return evaluate_kappa_function<kFunction>(k, table); });
}

}  // namespace

template <class S>
void vmf_kappa_rows(KappaFunction function, const S* kappa, S* out, int64_t n, int64_t m) {
  using F = KappaFunction;
  switch (function) {
    case F::kMeanLength:
      return loop<F::kMeanLength>(kappa, out, n, m);
    case F::kMeanLengthComplement:
      return loop<F::kMeanLengthComplement>(kappa, out, n, m);
    case F::kMeanLengthGrad:
      return loop<F::kMeanLengthGrad>(kappa, out, n, m);
    case F::kMeanLengthGrad2:
      return loop<F::kMeanLengthGrad2>(kappa, out, n, m);
    case F::kKlUniform:
      return loop<F::kKlUniform>(kappa, out, n, m);
    case F::kKlUniformGrad:
      return loop<F::kKlUniformGrad>(kappa, out, n, m);
    case F::kKlUniformGrad2:
      return loop<F::kKlUniformGrad2>(kappa, out, n, m);
    case F::kLogPartition:
      return loop<F::kLogPartition>(kappa, out, n, m);
    case F::kLogNorm:
      return loop<F::kLogNorm>(kappa, out, n, m);
    case F::kEntropy:
      return loop<F::kEntropy>(kappa, out, n, m);
  }
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
