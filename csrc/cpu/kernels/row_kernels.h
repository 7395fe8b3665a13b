// SPDX-License-Identifier: MIT
// What one instruction set offers: a table of plain functions on raw pointers. Every *_rows.cpp is
// compiled once per instruction set; csrc/cpu/isa.cpp picks one table when the module is loaded.
#pragma once

#include <cstdint>

#include "common/sample_arguments.h"

namespace svmf {

template <class Scalar>
struct RowKernels {
  // out[i] = function(kappa[i]) in R^m.
  void (*vmf_kappa)(KappaFunction function, const Scalar* kappa, Scalar* out, int64_t n, int64_t m);
  // out[i] = function(order, x[i]).
  void (*log_bessel)(BesselFunction function, double order, const Scalar* x, Scalar* out,
                     int64_t n);
  // out[i] = function(order[i], x[i]).
  void (*log_bessel_orders)(BesselFunction function, const Scalar* order, const Scalar* x,
                            Scalar* out, int64_t n);
  // out[i] = the kappa whose mean length is mean_length[i].
  void (*vmf_concentration)(const Scalar* mean_length, Scalar* out, int64_t n, int64_t m);
  // out[i] = dw/dkappa at fixed probability.
  void (*vmf_pathwise)(const Scalar* w, const Scalar* kappa, Scalar* out, int64_t n, int64_t m);
  // out[i] = KL(vMF(mu1, kappa1) || vMF(mu2, kappa2)), rows of m.
  void (*vmf_kl)(const Scalar* loc1, const Scalar* kappa1, const Scalar* loc2, const Scalar* kappa2,
                 Scalar* out, int64_t rows, int64_t m);
  // z = H x, rows of m; H takes e1 to loc.
  void (*householder)(const Scalar* x, const Scalar* loc, Scalar* z, int64_t rows, int64_t m);
  void (*householder_backward)(const Scalar* grad, const Scalar* x, const Scalar* loc,
                               Scalar* grad_x, Scalar* grad_loc, int64_t rows, int64_t m);
  // out[i] = log density of value[i], rows of m.
  void (*vmf_log_prob)(const Scalar* value, const Scalar* loc, const Scalar* kappa, Scalar* out,
                       int64_t rows, int64_t m);
  // The same of the other families: functions of one parameter for one m, and log densities.
  void (*spherical_cauchy)(RhoFunction function, const Scalar* rho, Scalar* out, int64_t n,
                           int64_t m);
  void (*spherical_cauchy_log_prob)(const Scalar* value, const Scalar* loc, const Scalar* rho,
                                    Scalar* out, int64_t rows, int64_t m);
  void (*power_spherical)(PowerFunction function, const Scalar* kappa, Scalar* out, int64_t n,
                          int64_t m);
  void (*power_spherical_log_prob)(const Scalar* value, const Scalar* loc, const Scalar* kappa,
                                   Scalar* out, int64_t rows, int64_t m);
  // Samples begin ... end of a task of any family; their gradient, rows begin ... end of the
  // batch.
  void (*vmf_sample)(const SampleArguments<Scalar>& task, int64_t begin, int64_t end);
  void (*vmf_sample_backward)(const SampleBackwardArguments<Scalar>& task, int64_t begin,
                              int64_t end);
  // Rows begin ... end of raw features to directions and concentrations; the gradients back.
  void (*vmf_features)(const FeatureArguments<Scalar>& task, int64_t begin, int64_t end);
  void (*vmf_features_backward)(const FeatureArguments<Scalar>& task, int64_t begin, int64_t end);
};

struct RowKernelTable {
  const char* name;
  RowKernels<float> f32;
  RowKernels<double> f64;
};

// One function per instruction set, named by the SVMF_ISA that row_kernels.cpp is compiled for.
namespace row_kernel_tables {
const RowKernelTable& isa_baseline();
const RowKernelTable& isa_avx2();
const RowKernelTable& isa_avx512();
}  // namespace row_kernel_tables

}  // namespace svmf
