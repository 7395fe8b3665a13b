// SPDX-License-Identifier: MIT
// Chooses the instruction set once, when it is first needed: the best one that this CPU has, or the
// one that the environment variable SVMF_CPU_ISA names (baseline, avx2 or avx512; never one that
// the CPU lacks).
#include "cpu/isa.h"

#include <cstdlib>
#include <string>

#include "common/fail.h"

namespace svmf {

namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool cpu_has_avx512() {
#if defined(__x86_64__)
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

const RowKernelTable& choose() {
  const char* variable = std::getenv("SVMF_CPU_ISA");
  const std::string wanted = variable ? variable : "";
  if (!wanted.empty() && wanted != "baseline" && wanted != "avx2" && wanted != "avx512") {
    fail("svmf: expected SVMF_CPU_ISA to be baseline, avx2 or avx512, got '", wanted, "'");
  }
  if ((wanted == "avx2" && !cpu_has_avx2()) || (wanted == "avx512" && !cpu_has_avx512())) {
    fail("svmf: SVMF_CPU_ISA is ", wanted, ", which this CPU does not have");
  }
#if defined(__x86_64__)
  if (wanted == "avx512" || (wanted.empty() && cpu_has_avx512()))
    return row_kernel_tables::isa_avx512();
  if (wanted == "avx2" || (wanted.empty() && cpu_has_avx2())) return row_kernel_tables::isa_avx2();
#endif
  return row_kernel_tables::isa_baseline();
}

}  // namespace

const RowKernelTable& active_row_kernels() {
  static const RowKernelTable& table = choose();
  return table;
}

}  // namespace svmf
