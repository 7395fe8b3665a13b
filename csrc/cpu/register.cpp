// SPDX-License-Identifier: MIT
// Registers the CPU ops.
#include <torch/csrc/stable/library.h>

#include "cpu/ops.h"

STABLE_TORCH_LIBRARY_IMPL(svmf, CPU, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cpu::name));
#define SVMF_CPU_OP SVMF_OP
#include "common/ops.inc"
}
