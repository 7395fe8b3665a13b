// SPDX-License-Identifier: MIT
// The next seed of torch's default generator.
#pragma once

#include "common/op_types.h"

namespace svmf::cpu {

// One int64 number, in a new tensor like the given one.
Tensor draw_seed(const Tensor& like);

}  // namespace svmf::cpu
