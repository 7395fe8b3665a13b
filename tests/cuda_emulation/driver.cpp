// SPDX-License-Identifier: MIT
// Runs launch functions of csrc/cuda/kernels in the emulation. It reads cases from one file and
// writes their outputs to another, so that sanitizer builds need not be loaded into Python;
// emulator.py is the other side and knows the format:
//   one line of text    op type order shuffle_seed processors, then four lists: integers, reals,
//                       bytes of the inputs, bytes of the outputs
//   raw numbers         the inputs
// Each list is preceded by its length; -1 bytes are a null pointer. Arrays are separate
// allocations of exact size, so that the address sanitizer sees the first element out of bounds;
// outputs start as nan.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/kernels/launchers.h"
#include "runtime.h"

namespace {

template <class T>
struct Case {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<void*> in, out;
};

// Where an array is, for those who read the description of a launch.
void describe(const char* what, const void* address) {
  if (emulation::settings().only_report) std::printf("%s %p\n", what, address);
}

template <class T>
cudaError_t run(const std::string& op, Case<T>& c) {
  using namespace svmf;
  using S = ComputeType<T>;
  const auto& n = c.integers;
  // The sampler's state is of the type that is computed in; everything else is stored as T.
  std::vector<const T*> in;
  std::vector<T*> out;
  for (void* array : c.in) in.push_back(static_cast<T*>(array));
  for (void* array : c.out) out.push_back(static_cast<T*>(array));
  const auto state = [](void* array) { return static_cast<S*>(array); };
#define SVMF_BESSEL_OP(name, function)                                                            \
  if (op == #name) {                                                                              \
    return launch_log_bessel(BesselFunction::function, c.reals[0], in[0], out[0], n[0], nullptr); \
  }                                                                                               \
  if (op == #name ".tensor") {                                                                    \
    return launch_log_bessel_orders(BesselFunction::function, in[0], in[1], out[0], n[0],         \
                                    nullptr);                                                     \
  }
#define SVMF_KAPPA_OP(name, function) \
  if (op == #name)                    \
    return launch_vmf_kappa(KappaFunction::function, in[0], out[0], n[0], n[1], nullptr);
#define SVMF_RHO_OP(name, function) \
  if (op == #name)                  \
    return launch_family_function(RhoFunction::function, in[0], out[0], n[0], n[1], nullptr);
#define SVMF_POWER_OP(name, function) \
  if (op == #name)                    \
    return launch_family_function(PowerFunction::function, in[0], out[0], n[0], n[1], nullptr);
#include "common/ops.inc"
  if (op == "vmf_concentration")
    return launch_vmf_concentration(in[0], out[0], n[0], n[1], nullptr);
  if (op == "vmf_pathwise") return launch_vmf_pathwise(in[0], in[1], out[0], n[0], n[1], nullptr);
  if (op == "vmf_kl") return launch_vmf_kl(in[0], in[1], in[2], in[3], out[0], n[0], n[1], nullptr);
  if (op == "vmf_log_prob")
    return launch_vmf_log_prob(in[0], in[1], in[2], out[0], n[0], n[1], nullptr);
  if (op == "householder") return launch_householder(in[0], in[1], out[0], n[0], n[1], nullptr);
  if (op == "householder_backward") {
    return launch_householder_backward(in[0], in[1], in[2], out[0], out[1], n[0], n[1], nullptr);
  }
  if (op == "spherical_cauchy_log_prob")
    return launch_family_log_prob(Family::kSphericalCauchy, in[0], in[1], in[2], out[0], n[0], n[1],
                                  nullptr);
  if (op == "power_spherical_log_prob")
    return launch_family_log_prob(Family::kPowerSpherical, in[0], in[1], in[2], out[0], n[0], n[1],
                                  nullptr);
  const Family family = op.rfind("spherical_cauchy", 0) == 0  ? Family::kSphericalCauchy
                        : op.rfind("power_spherical", 0) == 0 ? Family::kPowerSpherical
                                                              : Family::kVonMisesFisher;
  if (op == "vmf_sample" || op == "spherical_cauchy_sample" || op == "power_spherical_sample") {
    const auto seed = std::make_unique<int64_t>(n[3]);
    describe("seed", seed.get());
    const SampleArguments<T> arguments{in[0],           in[1],  seed.get(), out[0], state(c.out[1]),
                                       state(c.out[2]), out[3], n[0],       n[1],   n[2],
                                       family};
    return family == Family::kVonMisesFisher ? launch_vmf_sample(arguments, nullptr)
                                             : launch_family_sample(arguments, nullptr);
  }
  if (op == "vmf_sample_backward" || op == "spherical_cauchy_sample_backward" ||
      op == "power_spherical_sample_backward") {
    const SampleBackwardArguments<T> arguments{in[0],          in[1],
                                               in[2],          in[3],
                                               state(c.in[4]), state(c.in[5]),
                                               in[6],          in[7],
                                               out[0],         out[1],
                                               n[0],           n[1],
                                               n[2],           static_cast<SampleGradient>(n[3]),
                                               family};
    return family == Family::kVonMisesFisher ? launch_vmf_sample_backward(arguments, nullptr)
                                             : launch_family_sample_backward(arguments, nullptr);
  }
  if constexpr (std::is_same_v<T, S>) {
    if (op == "vmf_features") {
      return launch_vmf_features(
          FeatureArguments<S>{in[0], in[1], n[2], n[3], static_cast<S>(c.reals[0]), out[0], out[1],
                              out[2], nullptr, nullptr, n[0], n[1]},
          nullptr);
    }
    if (op == "vmf_features_backward") {  // in place
      if (!emulation::settings().only_report) {
        std::copy(in[3], in[3] + n[0] * n[1], out[0]);
        std::copy(in[4], in[4] + n[0], out[1]);
      }
      return launch_vmf_features_backward(
          FeatureArguments<S>{nullptr, in[0], 0, 1, S(0), const_cast<S*>(in[1]), nullptr,
                              const_cast<S*>(in[2]), out[0], out[1], n[0], n[1]},
          nullptr);
    }
  }
  std::cerr << "driver: unknown op " << op << "\n";
  std::exit(2);
}

template <class T>
std::vector<T> read_list(std::istream& line) {
  size_t count = 0;
  line >> count;
  std::vector<T> list(count);
  for (T& value : list) line >> value;
  return list;
}

template <class T>
void run_case(const std::string& op, std::istream& line, std::istream& input,
              std::ostream& output) {
  Case<T> c;
  c.integers = read_list<int64_t>(line);
  c.reals = read_list<double>(line);
  const std::vector<int64_t> in = read_list<int64_t>(line), out = read_list<int64_t>(line);
  const auto allocate = [](int64_t bytes) {
    void* const array = bytes < 0 ? nullptr : std::malloc(bytes);
    if (bytes > 0) std::memset(array, 0xff, bytes);
    return array;
  };
  for (const int64_t bytes : in) {
    void* const array = allocate(bytes);
    if (bytes > 0) input.read(static_cast<char*>(array), bytes);
    c.in.push_back(array);
  }
  for (const int64_t bytes : out) c.out.push_back(allocate(bytes));
  for (const void* array : c.in) describe("in", array);
  for (const void* array : c.out) describe("out", array);
  const cudaError_t error = run<T>(op, c);
  if (error != cudaSuccess) {
    std::cerr << "driver: " << op << ": " << cudaGetErrorString(error) << "\n";
    std::exit(4);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] > 0) output.write(static_cast<const char*>(c.out[i]), out[i]);
  }
  for (void* array : c.in) std::free(array);
  for (void* array : c.out) std::free(array);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: driver CASES OUTPUTS\n";
    return 2;
  }
  emulation::settings().only_report = std::getenv("SVMF_EMULATION_REPORT") != nullptr;
  std::ifstream input(arguments[1], std::ios::binary);
  std::ofstream output(arguments[2], std::ios::binary);
  for (std::string text; std::getline(input, text);) {
    std::istringstream line(text);
    std::string op, type;
    int order = 0;
    line >> op >> type >> order >> emulation::settings().shuffle_seed >>
        emulation::settings().processors;
    emulation::settings().order = static_cast<emulation::Order>(order);
    if (type == "float32")
      run_case<float>(op, line, input, output);
    else if (type == "float16")
      run_case<svmf::Float16>(op, line, input, output);
    else
      run_case<double>(op, line, input, output);
  }
  return output.good() ? 0 : 2;
}
