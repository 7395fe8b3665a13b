// SPDX-License-Identifier: MIT
// Every op of svmf, in one place. Ops that start with an underscore are parts of others
// (derivatives, backward passes) and not meant for users. Fake kernels (svmf/_fake.py) and autograd
// (svmf/_autograd.py) follow this order.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(svmf, m) {
  // Bessel functions of one order, or of an order per element.
  m.def("log_iv(float order, Tensor x) -> Tensor");
  m.def("log_iv.tensor(Tensor order, Tensor x) -> Tensor");
  m.def("log_ive(float order, Tensor x) -> Tensor");
  m.def("log_ive.tensor(Tensor order, Tensor x) -> Tensor");
  m.def("iv_ratio(float order, Tensor x) -> Tensor");
  m.def("iv_ratio.tensor(Tensor order, Tensor x) -> Tensor");
  m.def("_iv_ratio_grad(float order, Tensor x) -> Tensor");
  m.def("_iv_ratio_grad.tensor(Tensor order, Tensor x) -> Tensor");

  // Functions of the concentration for one dimension.
  m.def("vmf_log_norm(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_log_partition(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_mean_length(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_mean_length_complement(Tensor kappa, int dim) -> Tensor");
  m.def("_vmf_mean_length_grad(Tensor kappa, int dim) -> Tensor");
  m.def("_vmf_mean_length_grad2(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_kl_uniform(Tensor kappa, int dim) -> Tensor");
  m.def("_vmf_kl_uniform_grad(Tensor kappa, int dim) -> Tensor");
  m.def("_vmf_kl_uniform_grad2(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_entropy(Tensor kappa, int dim) -> Tensor");
  m.def("vmf_concentration(Tensor mean_length, int dim) -> Tensor");
  m.def("vmf_pathwise_derivative(Tensor w, Tensor kappa, int dim) -> Tensor");

  // Rows of vectors.
  m.def("vmf_kl(Tensor loc1, Tensor kappa1, Tensor loc2, Tensor kappa2) -> Tensor");
  m.def("householder(Tensor x, Tensor loc) -> Tensor");
  m.def("_householder_backward(Tensor grad, Tensor x, Tensor loc) -> (Tensor, Tensor)");

  m.def("vmf_log_prob(Tensor value, Tensor loc, Tensor kappa) -> Tensor");

  // The sampler. Results: z, what else was asked for, and the state that the backward pass needs.
  m.def(
      "vmf_rsample(Tensor loc, Tensor kappa, Tensor seed, SymInt[] sample_shape, int gradient, "
      "bool keep_state) -> "
      "(Tensor, Tensor)");
  m.def(
      "vmf_rsample_kl(Tensor loc, Tensor kappa, Tensor seed, SymInt[] sample_shape, int gradient, "
      "bool keep_state) -> "
      "(Tensor, Tensor, Tensor)");
  m.def(
      "vmf_rsample_with_correction(Tensor loc, Tensor kappa, Tensor seed, SymInt[] sample_shape, "
      "bool keep_state) -> "
      "(Tensor, Tensor, Tensor)");
  m.def(
      "_vmf_rsample_backward(Tensor grad_z, Tensor? grad_kl, Tensor? grad_log_ratio, Tensor z, "
      "Tensor state, "
      "Tensor loc, Tensor kappa, int gradient) -> (Tensor, Tensor)");

  // The least and largest norm of a row of loc, and the least and largest kappa: for the checks of
  // parameters. CPU only.
  m.def("_parameter_range(Tensor loc, Tensor kappa) -> (float, float, float, float)");

  // What built this library, as text; and the instruction set in use.
  m.def("_build_info() -> str");
}
