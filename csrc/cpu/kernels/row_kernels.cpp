// SPDX-License-Identifier: MIT
// Collects the row loops of one instruction set.
#include "cpu/kernels/row_kernels.h"

#include "common/table_cache.h"
#include "cpu/kernels/rows.h"

namespace svmf {

namespace {

template <class S>
constexpr RowKernels<S> collect() {
  return {
      &vmf_kappa_rows<S>,
      &log_bessel_rows<S>,
      &log_bessel_orders_rows<S>,
      &vmf_concentration_rows<S>,
      &vmf_pathwise_rows<S>,
      &vmf_kl_rows<S>,
      &householder_rows<S>,
      &householder_backward_rows<S>,
      &vmf_log_prob_rows<S>,
      &spherical_cauchy_rows<S>,
      &spherical_cauchy_log_prob_rows<S>,
      &power_spherical_rows<S>,
      &power_spherical_log_prob_rows<S>,
      &vmf_sample_rows<S>,
      &vmf_sample_backward_rows<S>,
      &vmf_features_rows<S>,
      &vmf_features_backward_rows<S>,
  };
}

#define SVMF_STRING_(x) #x
#define SVMF_STRING(x) SVMF_STRING_(x)
constexpr const char* kIsaName = &SVMF_STRING(SVMF_ISA)[sizeof("isa_") - 1];

}  // namespace

const RowKernelTable& row_kernel_tables::SVMF_ISA() {
  TableLock::let_forks_wait();
  static constexpr RowKernelTable table{kIsaName, collect<float>(), collect<double>()};
  return table;
}

}  // namespace svmf
