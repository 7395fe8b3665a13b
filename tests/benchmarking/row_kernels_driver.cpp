// SPDX-License-Identifier: MIT
// Calls one row kernel on fixed data, as often as asked: a program small enough for valgrind or
// qemu to count its instructions. Linked with the row kernels of one instruction set, which
// SVMF_ISA names.
//
//     row_kernels_driver f32|f64 sample|backward|kl|kl_grad REPEATS ROWS M
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../helpers/sampled_rows.h"
#include "cpu/kernels/row_kernels.h"

namespace {

template <class S>
void run(const svmf::RowKernels<S>& kernels, const std::string& kernel, int repeats, int64_t rows,
         int64_t m) {
  using F = svmf::KappaFunction;
  const std::vector<S> ones(static_cast<size_t>(rows), S(1));
  std::vector<S> kl(ones.size());
  SampledRows<S> data(rows, m);
  std::fill(data.kappa.begin(), data.kappa.end(), S(50));
  const svmf::SampleArguments<S> sample = data.forward();
  const svmf::SampleBackwardArguments<S> gradient = data.backward(ones.data());
  kernels.vmf_sample(sample, 0, rows);
  for (int i = 0; i < repeats; ++i) {
    if (kernel == "sample") kernels.vmf_sample(sample, 0, rows);
    if (kernel == "backward") kernels.vmf_sample_backward(gradient, 0, rows);
    if (kernel == "kl") kernels.vmf_kappa(F::kKlUniform, data.kappa.data(), kl.data(), rows, m);
    if (kernel == "kl_grad")
      kernels.vmf_kappa(F::kKlUniformGrad, data.kappa.data(), kl.data(), rows, m);
  }
  std::printf("%g %g %g\n", static_cast<double>(data.z[0]), static_cast<double>(data.grad_loc[0]),
              static_cast<double>(kl[0]));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  const std::string type = arguments[1];
  const int repeats = std::atoi(arguments[3]);
  const int64_t rows = std::atoll(arguments[4]), m = std::atoll(arguments[5]);
  const svmf::RowKernelTable& table = svmf::row_kernel_tables::SVMF_ISA();
  if (type == "f32")
    run<float>(table.f32, arguments[2], repeats, rows, m);
  else
    run<double>(table.f64, arguments[2], repeats, rows, m);
  return 0;
}
