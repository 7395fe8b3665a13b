// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/sample_arguments.h"
#include "unit_rows.h"

// Inputs and outputs of the sampler's row kernels, one sample per row.
template <class S>
struct SampledRows {
  int64_t rows, m, seed = 1;
  std::vector<S> loc, kappa, z, below, above, grad_loc, grad_kappa;

  SampledRows(int64_t rows, int64_t m)
      : rows(rows), m(m), loc(unit_rows<S>(rows, m)), z(loc.size()), grad_loc(loc.size()) {
    for (std::vector<S>* each : {&kappa, &below, &above, &grad_kappa})
      each->resize(static_cast<size_t>(rows));
  }

  svmf::SampleArguments<S> forward() {
    return {loc.data(),    kappa.data(), &seed, z.data(), below.data(), above.data(), nullptr,
            /*samples=*/1, rows,         m};
  }
  // The incoming gradient of z is loc.
  svmf::SampleBackwardArguments<S> backward(const S* grad_kl) {
    return {loc.data(),
            grad_kl,
            nullptr,
            z.data(),
            below.data(),
            above.data(),
            loc.data(),
            kappa.data(),
            grad_loc.data(),
            grad_kappa.data(),
            /*samples=*/1,
            rows,
            m,
            svmf::SampleGradient::kPathwise};
  }
};
