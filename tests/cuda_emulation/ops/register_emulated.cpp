// SPDX-License-Identifier: MIT
// The CUDA ops as ops of the namespace svmf_emulated on the CPU: the very wrappers of csrc/cuda,
// with kernels that run in the emulation and a device that is no device. test_ops.py defines the
// schemas.
#include <torch/csrc/stable/library.h>

#include "cuda/device.h"
#include "cuda/ops.h"
#include "runtime.h"

namespace svmf::cuda {

OnDevice::OnDevice(const Tensor&) {}
OnDevice::~OnDevice() = default;

}  // namespace svmf::cuda

// For the test of errors: launches fail while it is set.
extern "C" __attribute__((visibility("default"))) void svmf_emulation_refuse_launches(bool refuse) {
  emulation::settings().refuse_launches = refuse;
}

STABLE_TORCH_LIBRARY_IMPL(svmf_emulated, CPU, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cuda::name));
#include "common/ops.inc"
}
