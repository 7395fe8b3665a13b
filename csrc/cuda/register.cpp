// SPDX-License-Identifier: MIT
// Registers the CUDA ops.
#include <torch/csrc/stable/library.h>

#include "cuda/ops.h"

#define SVMF_IMPL(name, function) m.impl(name, TORCH_BOX(&svmf::function));
STABLE_TORCH_LIBRARY_IMPL(svmf, CUDA, m) { SVMF_CUDA_OPS(SVMF_IMPL) }
