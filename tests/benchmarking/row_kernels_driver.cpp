// SPDX-License-Identifier: MIT
// Calls one row kernel of the AVX2 build on fixed data, as often as asked: a program small enough
// for valgrind to count its instructions. Linked with the objects that the build has made.
//
//     row_kernels_driver sample|backward REPEATS ROWS M
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu/kernels/row_kernels.h"

namespace {

// Unit rows that differ from each other; any would do.
std::vector<float> unit_rows(int64_t rows, int64_t m) {
  std::vector<float> values(static_cast<size_t>(rows * m));
  for (int64_t r = 0; r < rows; ++r) {
    float* row = values.data() + r * m;
    float sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      row[j] = std::sin(static_cast<float>(r + 3 * j + 1));
      sum += row[j] * row[j];
    }
    for (int64_t j = 0; j < m; ++j) row[j] /= std::sqrt(sum);
  }
  return values;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const bool backward = std::strcmp(arguments[1], "backward") == 0;
  const int repeats = std::atoi(arguments[2]);
  const int64_t rows = std::atoll(arguments[3]), m = std::atoll(arguments[4]);
  const auto& kernels = svmf::row_kernel_tables::isa_avx2().f32;
  const auto numbers = static_cast<size_t>(rows);
  const std::vector<float> loc = unit_rows(rows, m), kappa(numbers, 50.0f), ones(numbers, 1.0f);
  std::vector<float> z(loc.size()), below(numbers), above(numbers);
  std::vector<float> grad_loc(loc.size()), grad_kappa(numbers);
  const svmf::SampleRows<float> sample{loc.data(),   kappa.data(), z.data(), below.data(),
                                       above.data(), rows,         m,        /*seed=*/1};
  const svmf::SampleBackwardRows<float> gradient{loc.data(),
                                                 ones.data(),
                                                 nullptr,
                                                 z.data(),
                                                 below.data(),
                                                 above.data(),
                                                 loc.data(),
                                                 kappa.data(),
                                                 grad_loc.data(),
                                                 grad_kappa.data(),
                                                 /*samples=*/1,
                                                 rows,
                                                 m,
                                                 svmf::SampleGradient::kPathwise};
  kernels.vmf_sample(sample, 0, rows);
  for (int i = 0; i < repeats; ++i) {
    if (backward)
      kernels.vmf_sample_backward(gradient, 0, rows);
    else
      kernels.vmf_sample(sample, 0, rows);
  }
  std::printf("%g %g\n", static_cast<double>(z[0]), static_cast<double>(grad_loc[0]));
  return 0;
}
