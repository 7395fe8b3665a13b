// SPDX-License-Identifier: MIT
// The row kernels of the instruction set in use.
#pragma once

#include "cpu/kernels/row_kernels.h"

namespace svmf {

const RowKernelTable& active_row_kernels();

template <class Scalar>
const RowKernels<Scalar>& row_kernels() {
  if constexpr (sizeof(Scalar) == 4)
    return active_row_kernels().f32;
  else
    return active_row_kernels().f64;
}

}  // namespace svmf
