# SPDX-License-Identifier: MIT
# One object library per CPU instruction set from the same row-kernel sources; csrc/cpu/isa.cpp chooses at load time.
# The build machine's own CPU is never asked.
set(SVMF_CPU_ISAS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  list(APPEND SVMF_CPU_ISAS avx2 avx512)
endif()
set(svmf_flags_baseline "")
set(svmf_flags_avx2 -mavx2 -mfma)
# GCC 12 warns about its own AVX-512 intrinsics.
set(svmf_flags_avx512 -Wno-maybe-uninitialized -Wno-uninitialized -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)

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
