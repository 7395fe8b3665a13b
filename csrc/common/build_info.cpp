// SPDX-License-Identifier: MIT
// What built this library, as "key=value" lines; svmf.build_info() turns them into a dictionary.
#include <torch/csrc/stable/library.h>

#include <string>

#include "cpu/isa.h"

namespace {

std::string build_info() {
  return std::string("compiler=") + SVMF_COMPILER + "\nflags=" + SVMF_CXX_FLAGS +
         "\ncpu_isas=" + SVMF_CPU_ISAS + "\ncpu_isa=" + svmf::active_row_kernels().name +
         "\ncuda=" + SVMF_CUDA_VERSION + "\ncuda_archs=" + SVMF_CUDA_ARCHS +
         "\ntorch_headers=" + SVMF_TORCH_HEADERS + "\nsanitizers=" + SVMF_SANITIZERS;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(svmf, CompositeExplicitAutograd, m) {
  m.impl("_build_info", TORCH_BOX(&build_info));
}
