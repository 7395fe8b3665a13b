// SPDX-License-Identifier: MIT
// The checks of each op, once for all devices, and the shapes of the sampler's results. Single
// checks: common/check.h.
#pragma once

#include <optional>
#include <vector>

#include "common/check.h"

namespace svmf {

inline void check_pair(const char* op, const char* name, const Tensor& t, const char* other_name,
                       const Tensor& other) {
  check_same_dtype(op, name, t, other_name, other);
  check_same_device(op, name, t, other_name, other);
}

inline void check_bessel(const char* op, double order, const Tensor& x) {
  check_floating(op, "x", x);
  check_order(op, order);
}

inline void check_bessel_orders(const char* op, const Tensor& order, const Tensor& x) {
  check_floating(op, "x", x);
  check_pair(op, "order", order, "x", x);
  check_same_shape(op, "order", order, "x", x);
}

inline void check_function_of_dim(const char* op, const char* name, const Tensor& t, int64_t dim) {
  check_floating(op, name, t);
  check_dim(op, dim);
}

inline void check_pathwise_derivative(const char* op, const Tensor& w, const Tensor& kappa,
                                      int64_t dim) {
  check_floating(op, "w", w);
  check_pair(op, "kappa", kappa, "w", w);
  check_same_shape(op, "kappa", kappa, "w", w);
  check_dim(op, dim);
}

inline void check_householder(const char* op, const Tensor& x, const Tensor& loc) {
  check_floating(op, "x", x);
  check_vectors(op, "x", x);
  check_pair(op, "loc", loc, "x", x);
  check_same_shape(op, "loc", loc, "x", x);
}

inline void check_householder_backward(const char* op, const Tensor& grad, const Tensor& x,
                                       const Tensor& loc) {
  check_householder(op, x, loc);
  check_pair(op, "grad", grad, "x", x);
  check_same_shape(op, "grad", grad, "x", x);
}

inline void check_vmf_kl(const char* op, const Tensor& loc1, const Tensor& kappa1,
                         const Tensor& loc2, const Tensor& kappa2) {
  check_floating(op, "loc1", loc1);
  check_vectors(op, "loc1", loc1);
  check_pair(op, "kappa1", kappa1, "loc1", loc1);
  check_row_shape(op, "kappa1", kappa1, "loc1", loc1);
  check_pair(op, "loc2", loc2, "loc1", loc1);
  check_same_shape(op, "loc2", loc2, "loc1", loc1);
  check_pair(op, "kappa2", kappa2, "loc1", loc1);
  check_row_shape(op, "kappa2", kappa2, "loc1", loc1);
}

// `name` is what the op calls its second parameter.
inline void check_log_prob(const char* op, const Tensor& value, const Tensor& loc,
                           const Tensor& kappa, const char* name = "kappa") {
  check_floating(op, "value", value);
  check_vectors(op, "value", value);
  check_pair(op, "loc", loc, "value", value);
  check_same_shape(op, "loc", loc, "value", value);
  check_pair(op, name, kappa, "value", value);
  check_row_shape(op, name, kappa, "value", value);
}

inline void check_sample(const char* op, const Tensor& loc, const Tensor& kappa, const Tensor& seed,
                         const char* name = "kappa") {
  check_floating(op, "loc", loc);
  check_vectors(op, "loc", loc);
  check_pair(op, name, kappa, "loc", loc);
  check_row_shape(op, name, kappa, "loc", loc);
  check_seed(op, seed, loc);
}

// No negative size, and a number of elements that memory can be asked for.
inline void check_sample_shape(const char* op, const std::vector<int64_t>& sample_shape,
                               const Tensor& loc) {
  constexpr int64_t kMaxElements = int64_t{1} << 44;
  int64_t elements = loc.numel();
  bool negative = false, empty = elements == 0, too_many = false;
  for (const int64_t size : sample_shape) {
    negative |= size < 0;
    empty |= size == 0;
    too_many |= __builtin_mul_overflow(elements, size, &elements) || elements > kMaxElements;
  }
  if (!negative && (empty || !too_many)) return;
  std::string text;
  for (const int64_t size : sample_shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  fail(op, ": expected `sample_shape` ",
       negative ? "without negative sizes" : "whose samples fit in memory", ", got [", text, "]");
}

inline void check_sample_backward(const char* op, const Tensor& grad_z, const Tensor& z,
                                  const Tensor& state, const Tensor& loc, const Tensor& kappa,
                                  const char* name = "kappa", const char* loc_name = "loc") {
  check_floating(op, loc_name, loc);
  check_vectors(op, loc_name, loc);
  check_pair(op, name, kappa, loc_name, loc);
  check_row_shape(op, name, kappa, loc_name, loc);
  check_pair(op, "z", z, loc_name, loc);
  check_pair(op, "grad_z", grad_z, "z", z);
  check_same_shape(op, "grad_z", grad_z, "z", z);
  check_same_device(op, "state", state, loc_name, loc);
  const int64_t front = z.dim() - loc.dim();
  bool same_rows = front >= 0;
  for (int64_t i = 0; same_rows && i < loc.dim(); ++i) same_rows = z.size(front + i) == loc.size(i);
  if (!same_rows)
    fail(op, ": expected `z` of shape [*sample_shape, *", loc_name, ".shape], ", loc_name,
         ".shape = ", shape_text(loc), ", got ", shape_text(z));
  const ScalarType compute =
      loc.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  if (state.scalar_type() != compute)
    fail(op, ": expected `state` of dtype ", dtype_name(compute), ", got ",
         dtype_name(state.scalar_type()));
  if (state.numel() * loc.size(loc.dim() - 1) != 2 * z.numel())
    fail(op, ": `state` was not kept in the forward pass");
}

// What comes with the gradient of z: the gradients of KL, [*batch], and of log_ratio,
// [*sample_shape, *batch], and the number of the estimator.
inline void check_sample_gradients(const char* op, const std::optional<Tensor>& grad_kl,
                                   const std::optional<Tensor>& grad_log_ratio, const Tensor& z,
                                   const Tensor& kappa, int64_t gradient,
                                   const char* name = "kappa") {
  if (grad_kl) {
    check_pair(op, "grad_kl", *grad_kl, name, kappa);
    check_same_shape(op, "grad_kl", *grad_kl, name, kappa);
  }
  if (grad_log_ratio) {
    check_pair(op, "grad_log_ratio", *grad_log_ratio, "z", z);
    check_row_shape(op, "grad_log_ratio", *grad_log_ratio, "z", z);
  }
  if (gradient != 0 && gradient != 1)
    fail(op, ": expected `gradient` to be 0 (pathwise) or 1 (rejection), got ", gradient);
}

inline void check_feature_rows(const char* op, const Tensor& features,
                               const Tensor& raw_concentration, double offset) {
  check_floating(op, "features", features);
  check_vectors(op, "features", features);
  check_pair(op, "raw_concentration", raw_concentration, "features", features);
  check_row_shape(op, "raw_concentration", raw_concentration, "features", features);
  if (!(offset >= 0)) fail(op, ": expected `offset` to be at least 0, got ", offset);
}

inline void check_features(const char* op, const Tensor& features, const Tensor& raw_concentration,
                           const Tensor& seed, const std::vector<int64_t>& sample_shape,
                           double offset) {
  check_feature_rows(op, features, raw_concentration, offset);
  check_seed(op, seed, features, "features");
  check_sample_shape(op, sample_shape, features);
}

inline void check_features_backward(const char* op, const Tensor& grad_z,
                                    const std::optional<Tensor>& grad_kl, const Tensor& z,
                                    const Tensor& state, const Tensor& features,
                                    const Tensor& raw_concentration, int64_t gradient,
                                    double offset) {
  check_feature_rows(op, features, raw_concentration, offset);
  check_sample_backward(op, grad_z, z, state, features, raw_concentration, "raw_concentration",
                        "features");
  check_sample_gradients(op, grad_kl, std::nullopt, z, raw_concentration, gradient,
                         "raw_concentration");
}

// [*front, *t.shape]
inline std::vector<int64_t> shape_of(const std::vector<int64_t>& front, const Tensor& t) {
  std::vector<int64_t> shape(front);
  for (int64_t i = 0; i < t.dim(); ++i) shape.push_back(t.size(i));
  return shape;
}

// z [*sample_shape, *batch, m] and state [2, *sample_shape, *batch] (or [0, ...] where it is not
// kept).
inline std::vector<int64_t> state_shape(const std::vector<int64_t>& sample_shape,
                                        const Tensor& kappa, bool keep_state) {
  std::vector<int64_t> front{keep_state ? 2 : 0};
  front.insert(front.end(), sample_shape.begin(), sample_shape.end());
  return shape_of(front, kappa);
}

}  // namespace svmf
