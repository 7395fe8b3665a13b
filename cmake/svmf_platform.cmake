# SPDX-License-Identifier: MIT
# What can be built for at all, said before the compiler stumbles: 64 bits, little endian, g++ or clang. The compiler is
# asked and not CMAKE_SYSTEM_PROCESSOR, which names the machine that builds and not always the one that is built for.
include(CheckCXXSourceCompiles)

if(MSVC AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR
    "svmf: Microsoft's compiler has no vector extensions, with which the kernels are written. Build with clang-cl: "
    "install LLVM and set CMAKE_ARGS=-DCMAKE_CXX_COMPILER=clang-cl")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 9)
  message(FATAL_ERROR "svmf: expected g++ 9 or newer, found ${CMAKE_CXX_COMPILER_VERSION}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "svmf: expected clang 14 or newer, found ${CMAKE_CXX_COMPILER_VERSION}")
endif()
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "svmf: expected a 64-bit processor; PyTorch has no build for this one either")
endif()
check_cxx_source_compiles(
  "#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n#error\n#endif\nint main() {}" SVMF_LITTLE_ENDIAN)
if(NOT SVMF_LITTLE_ENDIAN)
  message(FATAL_ERROR
    "svmf: expected a little-endian processor: random words and bit patterns are put together in that order")
endif()

# Two architectures in one file (macOS's universal2) satisfy neither question.
check_cxx_source_compiles("#ifndef __x86_64__\n#error\n#endif\nint main() {}" SVMF_IS_X86_64)
check_cxx_source_compiles("#ifndef __aarch64__\n#error\n#endif\nint main() {}" SVMF_IS_AARCH64)
list(LENGTH CMAKE_OSX_ARCHITECTURES svmf_architectures)
if(svmf_architectures GREATER 1)
  message(FATAL_ERROR
    "svmf: expected one architecture in CMAKE_OSX_ARCHITECTURES, got '${CMAKE_OSX_ARCHITECTURES}': the row kernels are "
    "compiled for the instruction sets of one. Build a wheel for each.")
endif()

# clang-cl takes the flags of clang only behind /clang:; without it they would be ignored, and results would change.
function(svmf_clang_flags variable)
  set(flags ${ARGN})
  if(CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")
    list(TRANSFORM flags PREPEND "/clang:")
  endif()
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()
