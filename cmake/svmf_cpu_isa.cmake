# SPDX-License-Identifier: MIT
# One object library per CPU instruction set from the same row-kernel sources; csrc/cpu/isa.cpp chooses at load time.
# The build machine's own CPU is never asked. The baseline is what every processor of the architecture has: SSE2 on
# x86-64, NEON on 64-bit ARM, and generic vectors elsewhere.
set(SVMF_CPU_ISAS baseline)
if(SVMF_IS_X86_64)
  list(APPEND SVMF_CPU_ISAS avx2 avx512)
endif()
set(svmf_flags_baseline "")
if(SVMF_IS_AARCH64 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Constants beside the code that loads them: one instruction instead of two.
  list(APPEND svmf_flags_baseline -mpc-relative-literal-loads)
endif()
svmf_clang_flags(svmf_flags_avx2 -mavx2 -mfma)
svmf_clang_flags(svmf_flags_avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl
  -mprefer-vector-width=512)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It warns about its own AVX-512 intrinsics.
  list(APPEND svmf_flags_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
endif()

function(svmf_add_row_kernels)
  set(targets "")
  foreach(isa IN LISTS SVMF_CPU_ISAS)
    add_library(svmf_rows_${isa} OBJECT ${ARGN})
    target_include_directories(svmf_rows_${isa} PRIVATE csrc)
    target_link_libraries(svmf_rows_${isa} PRIVATE svmf_compile_options)
    target_compile_definitions(svmf_rows_${isa} PRIVATE SVMF_ISA=isa_${isa})
    target_compile_options(svmf_rows_${isa} PRIVATE ${svmf_flags_${isa}})
    list(APPEND targets svmf_rows_${isa})
  endforeach()
  set(SVMF_ROW_KERNEL_TARGETS ${targets} PARENT_SCOPE)
endfunction()
