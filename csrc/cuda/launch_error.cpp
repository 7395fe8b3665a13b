// SPDX-License-Identifier: MIT
// A failed launch in words: the op, CUDA's text and, where the module has no code for the device,
// what it has and what the device is.
#include "cuda/device.h"

namespace svmf::cuda {

namespace {

bool is_about_architecture(cudaError_t error) {
  return error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
         error == cudaErrorUnsupportedPtxVersion || error == cudaErrorInvalidPtx;
}

// "8.6", or "unknown".
std::string device_architecture() {
  int device = 0, major = 0, minor = 0;
  const bool known =
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess;
  return known ? std::to_string(major) + "." + std::to_string(minor) : "unknown";
}

}  // namespace

void fail_launch(const char* op, cudaError_t error) {
  cudaGetLastError();  // it is reported here, and not again by whoever asks next
  const std::string text = cudaGetErrorString(error);
  if (!is_about_architecture(error)) fail(op, ": the CUDA launch failed: ", text);
  const std::string device = device_architecture();
  fail(op, ": the CUDA launch failed: ", text, ". svmf was built for ", SVMF_CUDA_ARCHS,
       ", this device is ", device, ": rebuild with TORCH_CUDA_ARCH_LIST=", device,
       ", or with a newer driver if ", device, " is among them");
}

}  // namespace svmf::cuda
