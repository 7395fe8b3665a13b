// SPDX-License-Identifier: MIT
// Runs launch functions of csrc/cuda/kernels in the emulation. It reads cases from one file and
// writes their outputs to another, so that sanitizer builds need not be loaded into Python;
// emulator.py is the other side and knows the format:
//   op type order shuffle_seed processors | integers | reals | input lengths | output lengths one
//   line of text the inputs raw numbers
// Each list is preceded by its length; a length of -1 is a null pointer. Arrays are separate
// allocations of exact size, so that the address sanitizer sees the first element out of bounds;
// outputs start as nan.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/kernels/launchers.h"
#include "runtime.h"

namespace {

template <class S>
struct Case {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<S*> in, out;
};

template <class S>
cudaError_t run(const std::string& op, Case<S>& c) {
  using namespace svmf;
  const auto& n = c.integers;
  if (op == "vmf_sample") {
    int64_t* seed = new int64_t(n[3]);
    const cudaError_t error = launch_vmf_sample<S>(
        {c.in[0], c.in[1], seed, c.out[0], c.out[1], c.out[2], c.out[3], n[0], n[1], n[2]},
        nullptr);
    delete seed;
    return error;
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

template <class S>
void run_case(const std::string& op, std::istream& line, std::istream& input,
              std::ostream& output) {
  Case<S> c;
  c.integers = read_list<int64_t>(line);
  c.reals = read_list<double>(line);
  const std::vector<int64_t> in = read_list<int64_t>(line), out = read_list<int64_t>(line);
  const auto allocate = [](int64_t length) {
    S* const array = length < 0 ? nullptr : static_cast<S*>(std::malloc(length * sizeof(S)));
    if (length > 0) std::memset(array, 0xff, length * sizeof(S));
    return array;
  };
  for (const int64_t length : in) {
    c.in.push_back(allocate(length));
    if (length > 0) input.read(reinterpret_cast<char*>(c.in.back()), length * sizeof(S));
  }
  for (const int64_t length : out) c.out.push_back(allocate(length));
  const cudaError_t error = run<S>(op, c);
  if (error != cudaSuccess) {
    std::cerr << "driver: " << op << ": " << cudaGetErrorString(error) << "\n";
    std::exit(4);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] > 0) output.write(reinterpret_cast<const char*>(c.out[i]), out[i] * sizeof(S));
  }
  for (S* array : c.in) std::free(array);
  for (S* array : c.out) std::free(array);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: driver CASES OUTPUTS\n";
    return 2;
  }
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
    else
      run_case<double>(op, line, input, output);
  }
  return output.good() ? 0 : 2;
}
