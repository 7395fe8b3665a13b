// SPDX-License-Identifier: MIT
// CUDA ops that map elements: Bessel functions, and functions of kappa for one dimension m.
#include "common/op_checks.h"
#include "cuda/device.h"
#include "cuda/kernels/launchers.h"
#include "cuda/ops.h"

namespace svmf {

namespace {

template <class F>
Tensor map_elements(const char* op, const Tensor& input, F launch) {
  const Tensor x = to_compute_type(input), out = empty_like_contiguous(x);
  launch_on_device(op, x, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch(data<S>(x), mutable_data<S>(out), x.numel(), stream);
  });
  return to_result_type(out, input.scalar_type());
}

template <class F>
Tensor map_elements(const char* op, const Tensor& input1, const Tensor& input2, F launch) {
  const Tensor x = to_compute_type(input1), y = to_compute_type(input2),
               out = empty_like_contiguous(x);
  launch_on_device(op, x, [&](auto type, cudaStream_t stream) {
    using S = decltype(type);
    return launch(data<S>(x), data<S>(y), mutable_data<S>(out), x.numel(), stream);
  });
  return to_result_type(out, input1.scalar_type());
}

Tensor bessel(const char* op, BesselFunction function, double order, const Tensor& x) {
  check_bessel(op, order, x);
  return map_elements(op, x, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_log_bessel(function, order, in, out, n, stream);
  });
}

Tensor bessel(const char* op, BesselFunction function, const Tensor& order, const Tensor& x) {
  check_bessel_orders(op, order, x);
  return map_elements(
      op, order, x, [&](const auto* v, const auto* in, auto* out, int64_t n, cudaStream_t stream) {
        return launch_log_bessel_orders(function, v, in, out, n, stream);
      });
}

Tensor function_of_kappa(const char* op, KappaFunction function, const Tensor& kappa, int64_t dim) {
  check_function_of_dim(op, "kappa", kappa, dim);
  return map_elements(op, kappa, [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
    return launch_vmf_kappa(function, in, out, n, dim, stream);
  });
}

}  // namespace

#define SVMF_BESSEL_OP(name, function)                              \
  Tensor name##_cuda(double order, const Tensor& x) {               \
    return bessel(#name, BesselFunction::function, order, x);       \
  }                                                                 \
  Tensor name##_orders_cuda(const Tensor& order, const Tensor& x) { \
    return bessel(#name, BesselFunction::function, order, x);       \
  }
SVMF_BESSEL_OP(log_iv, kLogIv)
SVMF_BESSEL_OP(log_ive, kLogIve)
SVMF_BESSEL_OP(iv_ratio, kIvRatio)
SVMF_BESSEL_OP(_iv_ratio_grad, kIvRatioGrad)

#define SVMF_KAPPA_OP(name, function)                                     \
  Tensor name##_cuda(const Tensor& kappa, int64_t dim) {                  \
    return function_of_kappa(#name, KappaFunction::function, kappa, dim); \
  }
SVMF_KAPPA_OP(vmf_log_norm, kLogNorm)
SVMF_KAPPA_OP(vmf_log_partition, kLogPartition)
SVMF_KAPPA_OP(vmf_mean_length, kMeanLength)
SVMF_KAPPA_OP(vmf_mean_length_complement, kMeanLengthComplement)
SVMF_KAPPA_OP(_vmf_mean_length_grad, kMeanLengthGrad)
SVMF_KAPPA_OP(_vmf_mean_length_grad2, kMeanLengthGrad2)
SVMF_KAPPA_OP(vmf_kl_uniform, kKlUniform)
SVMF_KAPPA_OP(_vmf_kl_uniform_grad, kKlUniformGrad)
SVMF_KAPPA_OP(_vmf_kl_uniform_grad2, kKlUniformGrad2)
SVMF_KAPPA_OP(vmf_entropy, kEntropy)

Tensor vmf_concentration_cuda(const Tensor& mean_length, int64_t dim) {
  constexpr const char* op = "vmf_concentration";
  check_function_of_dim(op, "mean_length", mean_length, dim);
  return map_elements(op, mean_length,
                      [&](const auto* in, auto* out, int64_t n, cudaStream_t stream) {
                        return launch_vmf_concentration(in, out, n, dim, stream);
                      });
}

Tensor vmf_pathwise_derivative_cuda(const Tensor& w, const Tensor& kappa, int64_t dim) {
  constexpr const char* op = "vmf_pathwise_derivative";
  check_pathwise_derivative(op, w, kappa, dim);
  return map_elements(
      op, w, kappa,
      [&](const auto* in1, const auto* in2, auto* out, int64_t n, cudaStream_t stream) {
        return launch_vmf_pathwise(in1, in2, out, n, dim, stream);
      });
}

}  // namespace svmf
