// SPDX-License-Identifier: MIT
// Defines the ops of common/ops.inc, and the one that is not about tensors.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(svmf, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.def(op schema);
#define SVMF_CPU_OP SVMF_OP
#include "common/ops.inc"
  m.def("_build_info() -> str");
}
