// SPDX-License-Identifier: MIT
// The row kernels on several threads at once, each with its own rows of common arrays, for the
// thread sanitizer: registers at the end of a row may run into the next one, but never into rows of
// another thread. Prints "same" if the results are those of one thread.
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "../helpers/sampled_rows.h"
#include "cpu/kernels/householder_rows.cpp"
#include "cpu/kernels/vmf_kappa_rows.cpp"
#include "cpu/kernels/vmf_log_prob_rows.cpp"
#include "cpu/kernels/vmf_sample_backward_rows.cpp"
#include "cpu/kernels/vmf_sample_rows.cpp"

namespace {

constexpr int64_t kBlockRows = 64;  // csrc/cpu/vmf_sample.cpp hands out whole blocks

template <class S>
using Array = std::vector<S>;

// f(begin, end) for all rows, in blocks dealt to the threads in turn.
template <class F>
void on_threads(int64_t rows, int threads, F f) {
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([=] {
      for (int64_t begin = t * kBlockRows; begin < rows; begin += threads * kBlockRows)
        f(begin, std::min(rows, begin + kBlockRows));
    });
  }
  for (std::thread& worker : workers) worker.join();
}

template <class S>
Array<S> all_results(int64_t rows, int64_t m, int threads) {
  const auto count = static_cast<size_t>(rows), size = static_cast<size_t>(rows * m);
  SampledRows<S> data(rows, m);
  Array<S> reflected(size), grad_x(size), grad_mu(size), density(count), kl(count);
  for (size_t i = 0; i < count; ++i) data.kappa[i] = std::exp(static_cast<S>(i % 11) - 3);
  data.kappa[count / 2] = -1;  // bad rows take part
  const S *const loc = data.loc.data(), *const kappa = data.kappa.data(), *const z = data.z.data();
  const svmf::SampleArguments<S> sample = data.forward();
  const svmf::SampleBackwardArguments<S> gradient = data.backward(kappa);
  on_threads(rows, threads, [&](int64_t b, int64_t e) { svmf::vmf_sample_rows<S>(sample, b, e); });
  on_threads(rows, threads, [&](int64_t b, int64_t e) {
    const int64_t n = e - b;
    svmf::vmf_sample_backward_rows<S>(gradient, b, e);
    svmf::householder_rows<S>(loc + b * m, z + b * m, reflected.data() + b * m, n, m);
    svmf::householder_backward_rows<S>(loc + b * m, z + b * m, loc + b * m, grad_x.data() + b * m,
                                       grad_mu.data() + b * m, n, m);
    svmf::vmf_log_prob_rows<S>(z + b * m, loc + b * m, kappa + b, density.data() + b, n, m);
    svmf::vmf_kappa_rows<S>(svmf::KappaFunction::kKlUniform, kappa + b, kl.data() + b, n, m);
  });
  Array<S> all;
  for (const Array<S>* part : {&data.z, &data.below, &data.above, &data.grad_loc, &data.grad_kappa,
                               &reflected, &grad_x, &grad_mu, &density, &kl})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

template <class S>
bool same(int64_t rows, int64_t m) {
  const Array<S> one = all_results<S>(rows, m, 1), many = all_results<S>(rows, m, 5);
  return std::memcmp(one.data(), many.data(), one.size() * sizeof(S)) == 0;
}

}  // namespace

int main() {
  bool equal = true;
  for (const int64_t m : {2, 3, 4, 5, 7, 10, 17, 33, 100}) {
    for (const int64_t rows : {1, 63, 64, 65, 700})
      equal = equal && same<float>(rows, m) && same<double>(rows, m);
  }
  std::puts(equal ? "same" : "different");
  return equal ? 0 : 1;
}
