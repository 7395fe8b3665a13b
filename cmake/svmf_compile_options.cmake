# SPDX-License-Identifier: MIT
# Flags of every C++ file. No fast-math: results are promised to a few ulp, and nan and inf are part of the contract.
# -ffp-contract=off: an fma is written where it is meant, so that results do not depend on the optimiser.
svmf_clang_flags(svmf_common_flags -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off
  -Wall -Wextra -Wno-psabi -Wno-unknown-pragmas)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 10)
  # It takes what `if constexpr` leaves out for unused.
  list(APPEND svmf_common_flags -Wno-unused-but-set-parameter -Wno-unused-but-set-variable)
endif()
add_library(svmf_compile_options INTERFACE)
target_compile_options(svmf_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${svmf_common_flags}>")
if(SVMF_WERROR)
  target_compile_options(svmf_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(SVMF_SANITIZE)
  # -O1: at -O3 the inserted checks make the largest files compile for many minutes.
  target_compile_options(svmf_compile_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-O1 -g1 -fsanitize=${SVMF_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all>)
  target_link_options(svmf_compile_options INTERFACE -fsanitize=${SVMF_SANITIZE})
endif()

# Writes what built the module into one source file's definitions; svmf.build_info() shows it.
function(svmf_describe_build source)
  string(REPLACE ";" " " isas "${SVMF_CPU_ISAS}")
  set(cuda_version "")
  if(SVMF_CUDA_ENABLED)
    set(cuda_version "${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
    SVMF_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    SVMF_CXX_FLAGS="-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off ${CMAKE_CXX_FLAGS}"
    SVMF_CPU_ISAS="${isas}"
    SVMF_CUDA_VERSION="${cuda_version}"
    SVMF_CUDA_ARCHS="${SVMF_CUDA_ARCH_TEXT}"
    SVMF_TORCH_HEADERS="${SVMF_TORCH_VERSION}"
    SVMF_SANITIZERS="${SVMF_SANITIZE}")
endfunction()
