// SPDX-License-Identifier: MIT
// Allocation and layout for the op wrappers, at the least cost that the stable ABI allows: at 64
// rows a call through torch's dispatcher (about 5 us each) costs more than drawing the samples.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/shim_utils.h>

#include <array>
#include <cstdint>
#include <vector>

#include "common/allocation_error.h"
#include "common/check.h"

namespace svmf {

inline bool is_half_type(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16;
}

[[noreturn]] inline void fail_for_memory(const int64_t* sizes, int64_t dim, const Tensor& like,
                                         const std::string& torch_says) {
  std::string shape;
  for (int64_t i = 0; i < dim; ++i) shape += (i ? ", " : "") + std::to_string(sizes[i]);
  fail_allocation("a tensor of shape [" + shape + "] and dtype " + dtype_name(like.scalar_type()),
                  torch_says, like.is_cuda());
}

// An uninitialised contiguous tensor of a dtype (torch's number of it) on the device of `like`.
inline Tensor empty_tensor(const int64_t* sizes, int64_t dim, const Tensor& like, int32_t dtype) {
  std::vector<int64_t> strides(static_cast<size_t>(dim));
  int64_t stride = 1;
  for (int64_t i = dim - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = stride;
    if (i == 0) break;  // the product of all is torch's to check
    const int64_t size = sizes[i] > 1 ? sizes[i] : 1;
    if (stride > INT64_MAX / size) fail_for_memory(sizes, dim, like, "");
    stride *= size;
  }
  int32_t device_type, device_index;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(like.get(), &device_type));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(like.get(), &device_index));
  AtenTensorHandle handle;
  const auto code = aoti_torch_empty_strided(dim, sizes, strides.data(), dtype, device_type,
                                             device_index, &handle);
  if (code != 0) fail_for_memory(sizes, dim, like, last_torch_error());
  return Tensor(handle);
}

inline int32_t torch_dtype(const Tensor& t) {
  int32_t dtype;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(t.get(), &dtype));
  return dtype;
}

inline Tensor empty_tensor(const std::vector<int64_t>& sizes, const Tensor& like) {
  return empty_tensor(sizes.data(), static_cast<int64_t>(sizes.size()), like, torch_dtype(like));
}

// Of the dtype that `like` is computed in.
inline Tensor empty_of_compute_type(const std::vector<int64_t>& sizes, const Tensor& like) {
  return empty_tensor(
      sizes.data(), static_cast<int64_t>(sizes.size()), like,
      is_half_type(like.scalar_type()) ? aoti_torch_dtype_float32() : torch_dtype(like));
}

inline Tensor empty_like_contiguous(const Tensor& like) {
  const auto sizes = like.sizes();
  return empty_tensor(sizes.data(), static_cast<int64_t>(sizes.size()), like, torch_dtype(like));
}

inline Tensor to_contiguous(const Tensor& t) {
  return t.is_contiguous() ? t : torch::stable::contiguous(t);
}

// Contiguous, and bfloat16 and float16 as float32.
inline Tensor to_compute_type(const Tensor& t) {
  if (is_half_type(t.scalar_type()))
    return torch::stable::contiguous(torch::stable::to(t, ScalarType::Float));
  return to_contiguous(t);
}

inline Tensor to_result_type(const Tensor& t, ScalarType type) {
  return t.scalar_type() == type ? t : torch::stable::to(t, type);
}

template <class S>
const S* data(const Tensor& t) {
  return static_cast<const S*>(t.const_data_ptr());
}
template <class S>
S* mutable_data(const Tensor& t) {
  return static_cast<S*>(t.mutable_data_ptr());
}

// Calls f(S{}) with the compute type of t.
template <class F>
void with_compute_type(const Tensor& t, F f) {
  if (t.scalar_type() == ScalarType::Double)
    f(double{});
  else
    f(float{});
}

}  // namespace svmf
