// SPDX-License-Identifier: MIT
// Checks of op arguments. Each has a twin of the same name and text in svmf/_checks.py for fake
// tensors. A message says: the op, the argument, what was expected, what came.
#pragma once

#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <string>

#include "common/fail.h"

namespace svmf {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

inline std::string dtype_name(ScalarType type) {
  switch (type) {
    case ScalarType::Float:
      return "torch.float32";
    case ScalarType::Double:
      return "torch.float64";
    case ScalarType::Half:
      return "torch.float16";
    case ScalarType::BFloat16:
      return "torch.bfloat16";
    case ScalarType::Byte:
      return "torch.uint8";
    case ScalarType::Char:
      return "torch.int8";
    case ScalarType::Short:
      return "torch.int16";
    case ScalarType::Int:
      return "torch.int32";
    case ScalarType::Long:
      return "torch.int64";
    case ScalarType::UInt16:
      return "torch.uint16";
    case ScalarType::UInt32:
      return "torch.uint32";
    case ScalarType::UInt64:
      return "torch.uint64";
    case ScalarType::Bool:
      return "torch.bool";
    case ScalarType::ComplexHalf:
      return "torch.complex32";
    case ScalarType::ComplexFloat:
      return "torch.complex64";
    case ScalarType::ComplexDouble:
      return "torch.complex128";
    case ScalarType::Float8_e5m2:
      return "torch.float8_e5m2";
    case ScalarType::Float8_e4m3fn:
      return "torch.float8_e4m3fn";
    default:
      return "another dtype";
  }
}

inline std::string shape_text(const Tensor& t) {
  std::string text = "[";
  for (int64_t i = 0; i < t.dim(); ++i) text += (i ? ", " : "") + std::to_string(t.size(i));
  return text + "]";
}

inline void check_floating(const char* op, const char* name, const Tensor& t) {
  const ScalarType type = t.scalar_type();
  const bool floating = type == ScalarType::Float || type == ScalarType::Double ||
                        type == ScalarType::Half || type == ScalarType::BFloat16;
  if (!floating)
    fail(op, ": expected `", name,
         "` of dtype torch.float32, torch.float64, torch.bfloat16 or torch.float16, got ",
         dtype_name(type));
}

inline void check_same_dtype(const char* op, const char* name, const Tensor& t,
                             const char* other_name, const Tensor& other) {
  const bool same = t.scalar_type() == other.scalar_type();
  if (!same)
    fail(op, ": expected `", name, "` of the dtype of `", other_name, "` (",
         dtype_name(other.scalar_type()), "), got ", dtype_name(t.scalar_type()));
}

inline std::string device_text(const Tensor& t) {
  return t.is_cpu()    ? "cpu"
         : t.is_cuda() ? "cuda:" + std::to_string(t.get_device_index())
                       : "another device";
}

inline void check_same_device(const char* op, const char* name, const Tensor& t,
                              const char* other_name, const Tensor& other) {
  const bool same = t.is_cpu() == other.is_cpu() &&
                    (t.is_cpu() || t.get_device_index() == other.get_device_index());
  if (!same)
    fail(op, ": expected `", name, "` on the device of `", other_name, "` (", device_text(other),
         "), got ", device_text(t));
}

inline void check_same_shape(const char* op, const char* name, const Tensor& t,
                             const char* other_name, const Tensor& other) {
  bool same = t.dim() == other.dim();
  for (int64_t i = 0; same && i < t.dim(); ++i) same = t.size(i) == other.size(i);
  if (!same)
    fail(op, ": expected `", name, "` of the shape of `", other_name, "` ", shape_text(other),
         ", got ", shape_text(t));
}

// `t` has the shape of `rows` without its last dimension.
inline void check_row_shape(const char* op, const char* name, const Tensor& t,
                            const char* rows_name, const Tensor& rows) {
  bool same = t.dim() == rows.dim() - 1;
  for (int64_t i = 0; same && i < t.dim(); ++i) same = t.size(i) == rows.size(i);
  if (!same)
    fail(op, ": expected `", name, "` with one value per row of `", rows_name, "` ",
         shape_text(rows), ", got shape ", shape_text(t));
}

inline void check_dim(const char* op, int64_t dim) {
  if (dim < 2) fail(op, ": expected `dim` to be at least 2, got ", dim);
}

inline void check_vectors(const char* op, const char* name, const Tensor& t) {
  if (t.dim() < 1 || t.size(t.dim() - 1) < 2)
    fail(op, ": expected `", name, "` of shape [..., m] with m at least 2, got ", shape_text(t));
}

inline void check_seed(const char* op, const Tensor& seed, const Tensor& loc,
                       const char* loc_name = "loc") {
  if (seed.scalar_type() != ScalarType::Long || seed.numel() != 1)
    fail(op, ": expected `seed` with one element of dtype torch.int64, got shape ",
         shape_text(seed), " of dtype ", dtype_name(seed.scalar_type()));
  check_same_device(op, "seed", seed, loc_name, loc);
}

inline void check_order(const char* op, double order) {
  if (!(order >= 0)) fail(op, ": expected `order` to be at least 0, got ", order);
}

}  // namespace svmf
