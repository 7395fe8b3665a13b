// SPDX-License-Identifier: MIT
// csrc/cuda/device.cpp, run without a GPU: in the place of torch's functions those that write down
// what is asked of them. test_device.py calls svmf_launch.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <string>

#include "cuda/device.h"

namespace {
std::string record;
int32_t device_of_tensors = 0;
int32_t refused_guard = -1;
}  // namespace

extern "C" {

AOTITorchError aoti_torch_get_device_index(AtenTensorHandle, int32_t* index) {
  *index = device_of_tensors;
  return 0;
}
AOTITorchError aoti_torch_create_device_guard(int32_t device_index, DeviceGuardHandle* guard) {
  if (device_index == refused_guard) return 1;
  record += "on " + std::to_string(device_index) + "; ";
  *guard = reinterpret_cast<DeviceGuardHandle>(&record);
  return 0;
}
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard) {
  record += reinterpret_cast<std::string*>(guard) == &record ? "off" : "another guard";
  return 0;
}

// What launch_stored does for a tensor on `device` whose launch gives `error`: what happened,
// and the text of the exception if there was one.
__attribute__((visibility("default"))) const char* svmf_launch(int32_t device, int32_t refused,
                                                               int error) {
  record.clear();
  device_of_tensors = device;
  refused_guard = refused;
  const int64_t sizes[1] = {3}, strides[1] = {1};
  AtenTensorHandle handle;
  aoti_torch_empty_strided(1, sizes, strides, aoti_torch_dtype_float32(),
                           aoti_torch_device_type_cpu(), 0, &handle);
  try {
    const torch::stable::Tensor like(handle);
    svmf::cuda::launch_stored("some_op", like, [&](auto type, cudaStream_t stream) {
      static_assert(sizeof(svmf::ComputeType<decltype(type)>) >= 4, "computed in float or double");
      record += "launch on stream " + std::to_string(reinterpret_cast<intptr_t>(stream)) + "; ";
      return static_cast<cudaError_t>(error);
    });
  } catch (const std::exception& e) {
    record += std::string(" | ") + e.what();
  }
  return record.c_str();
}

}  // extern "C"
