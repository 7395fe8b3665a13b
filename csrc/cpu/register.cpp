// SPDX-License-Identifier: MIT
// Registers the CPU ops.
#include <torch/csrc/stable/library.h>

#include "cpu/draw_seed.h"
#include "cpu/ops.h"

STABLE_TORCH_LIBRARY_IMPL(svmf, CPU, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cpu::name));
#define SVMF_CPU_OP SVMF_OP
#include "common/ops.inc"
}

STABLE_TORCH_LIBRARY_IMPL(svmf_kernels, CPU, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cpu::name));
#include "common/ops.inc"
  m.impl("draw_seed", TORCH_BOX(&svmf::cpu::draw_seed));
}
