// SPDX-License-Identifier: MIT
// The CPU ops as functions.
#pragma once

#include "common/op_types.h"

namespace svmf::cpu {

#define SVMF_OP(op, name, schema, result, parameters) result name parameters;
#define SVMF_CPU_OP SVMF_OP
#include "common/ops.inc"

}  // namespace svmf::cpu
