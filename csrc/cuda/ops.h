// SPDX-License-Identifier: MIT
// The CUDA ops as functions.
#pragma once

#include "common/op_types.h"

namespace svmf::cuda {

#define SVMF_OP(op, name, schema, result, parameters) result name parameters;
#include "common/ops.inc"

}  // namespace svmf::cuda
