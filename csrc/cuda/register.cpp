// SPDX-License-Identifier: MIT
// Registers the CUDA ops.
#include <torch/csrc/stable/library.h>

#include "cuda/ops.h"

STABLE_TORCH_LIBRARY_IMPL(svmf, CUDA, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cuda::name));
#include "common/ops.inc"
}

STABLE_TORCH_LIBRARY_IMPL(svmf_kernels, CUDA, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cuda::name));
#include "common/ops.inc"
}
