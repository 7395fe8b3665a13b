// SPDX-License-Identifier: MIT
// log density of the vMF distribution,
//     kappa (mu.x - 1) + (kappa - L) - log S,   mu.x - 1 = -|mu - x|^2/2 for unit vectors,
// so that nothing of the size of kappa is added and taken away again. kappa < 0 or nan -> nan.
#pragma once

#include "math/vmf_kl.h"

namespace svmf {
inline namespace SVMF_ISA {

template <class V>
SVMF_INLINE V vmf_log_prob(V kappa, V squared_distance, const VmfTable<ScalarOf<V>>& table) {
  using S = ScalarOf<V>;
  const KappaPlace<V> place = place_kappa(kappa, table);
  const V peak =
      -log_partition_minus_kappa_at(place, shared_logarithm(place), table) - V(table.log_surface);
  return select(kappa >= V(0), mul_add(kappa * V(S(-0.5)), squared_distance, peak),
                not_a_number<V>());
}

}  // namespace SVMF_ISA
}  // namespace svmf
