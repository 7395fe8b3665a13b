// SPDX-License-Identifier: MIT
// A libtorch_cuda.so with the one symbol that csrc/cuda/device.cpp looks up in it. Streams are
// numbered by their device; device 9 has none.
#include <cstdint>

extern "C" __attribute__((visibility("default"))) int32_t
aoti_torch_get_current_cuda_stream(int32_t device_index, void** stream) {
  *stream = reinterpret_cast<void*>(static_cast<intptr_t>(0x5000 + device_index));
  return device_index == 9 ? 1 : 0;
}
