// SPDX-License-Identifier: MIT
// Chooses the instruction set once, when it is first needed: the best one that this CPU has, or the
// one that the environment variable SVMF_CPU_ISA names (baseline, avx2 or avx512; never one that
// the CPU lacks).
#include "cpu/isa.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#if defined(__x86_64__) && defined(_WIN32)
#include <cpuid.h>
#endif

#include "common/fail.h"

namespace svmf {

namespace {

#if defined(__x86_64__) && defined(_WIN32)
// The builtin below asks a library that Windows does not have: the processor itself, then, and
// whether the system saves the registers.
bool cpu_has(unsigned leaf7_ebx, uint64_t saved) {
  constexpr unsigned kFma = 1u << 12, kSystemSaves = 1u << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kFma) || !(c & kSystemSaves)) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & saved) != saved || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (b & leaf7_ebx) == leaf7_ebx;
}
constexpr unsigned kAvx2 = 1u << 5;
constexpr unsigned kAvx512 = kAvx2 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
bool cpu_has_avx2() { return cpu_has(kAvx2, 0x6); }
bool cpu_has_avx512() { return cpu_has(kAvx512, 0xe6); }
#elif defined(__x86_64__)
bool cpu_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool cpu_has_avx512() {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool cpu_has_avx2() { return false; }
bool cpu_has_avx512() { return false; }
#endif

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

// Forks wait for the locks of every set that may be chosen later.
[[maybe_unused]] const bool kForksWait = [] {
  row_kernel_tables::isa_baseline();
#if defined(__x86_64__)
  if (cpu_has_avx2()) row_kernel_tables::isa_avx2();
  if (cpu_has_avx512()) row_kernel_tables::isa_avx512();
#endif
  return true;
}();

}  // namespace

const RowKernelTable& active_row_kernels() {
  // Threads may choose at the same time, the same one: no lock, which a fork could inherit.
  static std::atomic<const RowKernelTable*> chosen{nullptr};
  const RowKernelTable* table = chosen.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = &choose();
    chosen.store(table, std::memory_order_relaxed);
  }
  return *table;
}

}  // namespace svmf
