// SPDX-License-Identifier: MIT
// Defines the ops of common/ops.inc, and the one that is not about tensors.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(svmf, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.def(op schema);
#define SVMF_CPU_OP SVMF_OP
#include "common/ops.inc"
  m.def("_build_info() -> str");
}

// The same ops without derivatives: what compiled graphs call (svmf/_dispatch.py).
STABLE_TORCH_LIBRARY(svmf_kernels, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.def(op schema);
#include "common/ops.inc"
}
