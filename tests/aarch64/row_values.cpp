// SPDX-License-Identifier: MIT
// Calls every row kernel on fixed data and writes what it gave, as double precision numbers, to the
// file that is named: the same program for two processors tells whether their kernels agree. Linked
// with the row kernels of the instruction set that SVMF_ISA names.
//
//     row_values FILE
//
// Each block of the file: a line "NAME TYPE M COUNT", then COUNT numbers in binary.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cpu/kernels/row_kernels.h"
#include "math/philox.h"
#include "math/row_counters.h"
#include "simd/twin.h"

namespace svmf {
namespace {

FILE* file;

template <class S>
void write(const char* name, int64_t m, const std::vector<S>& values) {
  std::fprintf(file, "%s %s %lld %zu\n", name, sizeof(S) == 4 ? "f32" : "f64",
               static_cast<long long>(m), values.size());
  const std::vector<double> wide(values.begin(), values.end());
  std::fwrite(wide.data(), sizeof(double), wide.size(), file);
}

// The random words of 64 rows that begin just below 2^32, where the row's low word overflows.
template <class S>
void write_words() {
  using V = Twin<RowVec<S>>;
  constexpr int kWidth = Lanes<V>::kWidth;
  std::vector<S> halves;  // 16 bits at a time, which every type holds
  for (uint64_t row = 0; row < 64; row += kWidth) {
    PhiloxBlock<WordOf<V>> block[1] = {
        RowCounters<V>(0xffffffe0u + row).block(7, kPurposeDirection)};
    philox(block, 0x0123456789abcdefu);
    for (int lane = 0; lane < kWidth; ++lane) {
      for (const auto& word : block[0].word) {
        const auto bits = static_cast<uint32_t>(word[lane]);
        halves.push_back(static_cast<S>(bits >> 16));
        halves.push_back(static_cast<S>(bits & 0xffffu));
      }
    }
  }
  write("words", 0, halves);
}

template <class S>
std::vector<S> unit_rows(int64_t rows, int64_t m, int shift) {
  std::vector<S> values(static_cast<size_t>(rows * m));
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    std::vector<double> row(static_cast<size_t>(m));
    for (int64_t j = 0; j < m; ++j) {
      // Numbers without a library's sine, whose last bits differ between systems.
      const auto hash = static_cast<uint32_t>((r * 31 + j * 17 + shift) * 2654435761u);
      row[static_cast<size_t>(j)] = static_cast<double>(hash) * 0x1p-31 - 1;
      sum += row[static_cast<size_t>(j)] * row[static_cast<size_t>(j)];
    }
    const double length = std::sqrt(sum);
    for (int64_t j = 0; j < m; ++j)
      values[static_cast<size_t>(r * m + j)] = static_cast<S>(row[static_cast<size_t>(j)] / length);
  }
  return values;
}

template <class S>
void write_all(const RowKernels<S>& kernels, int64_t m) {
  constexpr int64_t kRows = 37;  // no multiple of a register
  constexpr auto kNumbers = static_cast<size_t>(kRows);
  const std::vector<S> loc = unit_rows<S>(kRows, m, 1), other = unit_rows<S>(kRows, m, 2),
                       grad = unit_rows<S>(kRows, m, 4);
  std::vector<S> kappa, other_kappa, mean_length, w;  // mean_length serves as rho too
  double power = 1.0 / 128;
  for (int64_t r = 0; r < kRows; ++r) {
    kappa.push_back(static_cast<S>(power));
    other_kappa.push_back(static_cast<S>(power * (1 + 0.25 * static_cast<double>(r % 7))));
    mean_length.push_back(static_cast<S>((static_cast<double>(r) + 0.5) / kRows));
    w.push_back(static_cast<S>(2 * (static_cast<double>(r) + 0.5) / kRows - 1));
    power *= 1.6875;
  }
  std::vector<S> out(kNumbers), vectors(loc.size()), grad_x(loc.size()), grad_loc(loc.size());

#define SVMF_KAPPA_OP(name, function)                                             \
  kernels.vmf_kappa(KappaFunction::function, kappa.data(), out.data(), kRows, m); \
  write(#name, m, out);
#include "common/ops.inc"
#define SVMF_RHO_OP(name, function)                                                            \
  kernels.spherical_cauchy(RhoFunction::function, mean_length.data(), out.data(), kRows, m); \
  write(#name, m, out);
#define SVMF_POWER_OP(name, function)                                                   \
  kernels.power_spherical(PowerFunction::function, kappa.data(), out.data(), kRows, m); \
  write(#name, m, out);
#include "common/ops.inc"
#define SVMF_BESSEL_OP(name, function)                                                      \
  for (const double order : {0.5 * static_cast<double>(m), 0.3 + static_cast<double>(m)}) { \
    kernels.log_bessel(BesselFunction::function, order, kappa.data(), out.data(), kRows);   \
    write(#name, m, out);                                                                   \
  }
#include "common/ops.inc"
  kernels.vmf_concentration(mean_length.data(), out.data(), kRows, m);
  write("vmf_concentration", m, out);
  kernels.vmf_pathwise(w.data(), kappa.data(), out.data(), kRows, m);
  write("vmf_pathwise", m, out);
  kernels.vmf_kl(loc.data(), kappa.data(), other.data(), other_kappa.data(), out.data(), kRows, m);
  write("vmf_kl", m, out);
  kernels.vmf_log_prob(loc.data(), other.data(), kappa.data(), out.data(), kRows, m);
  write("vmf_log_prob", m, out);
  kernels.spherical_cauchy_log_prob(loc.data(), other.data(), mean_length.data(), out.data(), kRows,
                                    m);
  write("spherical_cauchy_log_prob", m, out);
  kernels.power_spherical_log_prob(loc.data(), other.data(), kappa.data(), out.data(), kRows, m);
  write("power_spherical_log_prob", m, out);
  kernels.householder(other.data(), loc.data(), vectors.data(), kRows, m);
  write("householder", m, vectors);
  kernels.householder_backward(grad.data(), other.data(), loc.data(), grad_x.data(),
                               grad_loc.data(), kRows, m);
  write("householder_grad_x", m, grad_x);
  write("householder_grad_loc", m, grad_loc);

  const int64_t seed = 20;
  std::vector<S> z(2 * loc.size()), below(2 * kNumbers), above(2 * kNumbers), grad_kappa(kNumbers);
  const std::vector<S> grad_z = unit_rows<S>(2 * kRows, m, 3);
  kernels.vmf_sample({loc.data(), kappa.data(), &seed, z.data(), below.data(), above.data(),
                      nullptr, /*samples=*/2, kRows, m},
                     0, 2 * kRows);
  write("sample", m, z);
  for (const auto gradient : {SampleGradient::kPathwise, SampleGradient::kRejection}) {
    kernels.vmf_sample_backward(
        {grad_z.data(), out.data(), nullptr, z.data(), below.data(), above.data(), loc.data(),
         kappa.data(), grad_loc.data(), grad_kappa.data(), /*samples=*/2, kRows, m, gradient},
        0, kRows);
    write("sample_grad_loc", m, grad_loc);
    write("sample_grad_kappa", m, grad_kappa);
  }
  for (const auto family : {Family::kSphericalCauchy, Family::kPowerSpherical}) {
    const S* const parameter =
        family == Family::kSphericalCauchy ? mean_length.data() : kappa.data();
    kernels.vmf_sample({loc.data(), parameter, &seed, z.data(), below.data(), above.data(), nullptr,
                        /*samples=*/2, kRows, m, family},
                       0, 2 * kRows);
    write("sample", m, z);
    kernels.vmf_sample_backward(
        {grad_z.data(), out.data(), nullptr, z.data(), below.data(), above.data(), loc.data(),
         parameter, grad_loc.data(), grad_kappa.data(), /*samples=*/2, kRows, m,
         SampleGradient::kPathwise, family},
        0, kRows);
    write("sample_grad_loc", m, grad_loc);
    write("sample_grad_kappa", m, grad_kappa);
  }
}

}  // namespace
}  // namespace svmf

int main(int count, char** arguments) {
  if (count != 2 || !(svmf::file = std::fopen(arguments[1], "wb"))) return 2;
  const svmf::RowKernelTable& table = svmf::row_kernel_tables::SVMF_ISA();
  svmf::write_words<float>();
  svmf::write_words<double>();
  for (const int64_t m : {2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 31, 64, 65, 100, 1000}) {
    svmf::write_all<float>(table.f32, m);
    svmf::write_all<double>(table.f64, m);
  }
  return std::fclose(svmf::file) == 0 ? 0 : 1;
}
