// SPDX-License-Identifier: MIT
// The CUDA ops as ops of the namespace svmf_emulated on the CPU: the very wrappers of csrc/cuda,
// with kernels that run in the emulation and a device that is no device. test_ops.py defines the
// schemas.
#include <torch/csrc/stable/library.h>

#include "common/allocation_error.h"
#include "cuda/device.h"
#include "cuda/ops.h"
#include "runtime.h"

namespace svmf::cuda {

OnDevice::OnDevice(const Tensor&) {}
OnDevice::~OnDevice() = default;

}  // namespace svmf::cuda

// For the tests of errors: what launches give; and an allocation that fails on a GPU.
extern "C" __attribute__((visibility("default"))) void svmf_emulation_launch_error(int error) {
  emulation::settings().launch_error = error;
}

void fail_allocation(std::string torch_says) {
  svmf::fail_allocation("a tensor of shape [7]", torch_says, true);
}
STABLE_TORCH_LIBRARY_FRAGMENT(svmf_emulated, m) { m.def("_fail_allocation(str torch_says) -> ()"); }
STABLE_TORCH_LIBRARY_IMPL(svmf_emulated, CompositeExplicitAutograd, m) {
  m.impl("_fail_allocation", TORCH_BOX(&fail_allocation));
}

STABLE_TORCH_LIBRARY_IMPL(svmf_emulated, CPU, m) {
#define SVMF_OP(op, name, schema, result, parameters) m.impl(op, TORCH_BOX(&svmf::cuda::name));
#include "common/ops.inc"
}
