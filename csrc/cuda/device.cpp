// SPDX-License-Identifier: MIT
// The current stream comes from torch's C interface for CUDA. It is looked up in libtorch_cuda,
// which is in memory if there is a CUDA tensor, and not linked: so the same module loads beside a
// torch without CUDA.
#include "cuda/device.h"

#include <dlfcn.h>

namespace svmf::cuda {

namespace {

using GetCurrentStream = AOTITorchError (*)(int32_t device_index, void** stream);

GetCurrentStream find_get_current_stream() {
  void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  void* symbol = library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
  if (symbol == nullptr)
    fail("svmf: this torch has no CUDA (aoti_torch_get_current_cuda_stream was not found)");
  return reinterpret_cast<GetCurrentStream>(symbol);
}

}  // namespace

OnDevice::OnDevice(const Tensor& like) {
  static const GetCurrentStream get_current_stream = find_get_current_stream();
  const int32_t index = like.get_device_index();
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(get_current_stream(index, &stream));
  stream_ = static_cast<cudaStream_t>(stream);
  DeviceGuardHandle guard = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_create_device_guard(index, &guard));
  guard_ = guard;
}

OnDevice::~OnDevice() { aoti_torch_delete_device_guard(static_cast<DeviceGuardHandle>(guard_)); }

}  // namespace svmf::cuda
