# SPDX-License-Identifier: MIT
# Decides whether the CUDA ops are built, for which architectures, and how. A GPU is not needed, only nvcc.
#   OFF   never
#   AUTO  for a torch that was built with CUDA, if a fitting nvcc is found; what does not fit is a warning
#   ON    for any torch; what does not fit is an error
set(SVMF_CUDA_ENABLED OFF)
set(SVMF_CUDA_ARCH_TEXT "")
if(NOT SVMF_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "svmf: expected SVMF_CUDA to be AUTO, ON or OFF, got '${SVMF_CUDA}'")
endif()
if(SVMF_CUDA STREQUAL "OFF")
  message(STATUS "svmf: for the CPU only (SVMF_CUDA=OFF)")
  return()
endif()
if(SVMF_CUDA STREQUAL "AUTO" AND NOT SVMF_TORCH_CUDA_VERSION)
  message(STATUS "svmf: for the CPU only, as torch ${SVMF_TORCH_VERSION} (SVMF_CUDA=AUTO; ON builds the CUDA ops all the same)")
  return()
endif()

# Stops the build if the CUDA ops were asked for; otherwise says what is missing and goes on without them.
macro(svmf_without_cuda reason remedy)
  if(SVMF_CUDA STREQUAL "ON")
    message(FATAL_ERROR "svmf: ${reason}. ${remedy}, or build with SVMF_CUDA=OFF.")
  endif()
  message(WARNING
    "svmf: ${reason}. torch ${SVMF_TORCH_VERSION} has CUDA ${SVMF_TORCH_CUDA_VERSION}, but svmf is built WITHOUT its CUDA ops: "
    "they will refuse tensors on a GPU. ${remedy}; SVMF_CUDA=ON makes this an error, SVMF_CUDA=OFF makes it quiet.")
  return()
endmacro()

# CUDACXX, then CUDA_HOME (as torch's own extensions have it), then what CMake finds.
if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "" AND NOT "$ENV{CUDA_HOME}" STREQUAL "")
  if(EXISTS "$ENV{CUDA_HOME}/bin/nvcc")
    set(ENV{CUDACXX} "$ENV{CUDA_HOME}/bin/nvcc")
  else()
    svmf_without_cuda("CUDA_HOME is $ENV{CUDA_HOME}, but there is no bin/nvcc in it" "Correct or unset CUDA_HOME")
  endif()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  svmf_without_cuda("SVMF_CUDA=${SVMF_CUDA}, but no nvcc was found that works"
    "Put nvcc on PATH, or set CUDA_HOME or CUDACXX=/path/to/nvcc")
endif()

enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# Tables are kernel parameters of more than 4 KB.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.1)
  svmf_without_cuda("expected an nvcc of CUDA 12.1 or newer, found ${CMAKE_CUDA_COMPILER_VERSION}"
    "Use a newer nvcc (CUDACXX=/path/to/nvcc)")
endif()

# nvcc and torch must agree on CUDA's major version; a CPU-only torch has none and takes any.
string(REGEX MATCH "^[0-9]+" nvcc_major "${CMAKE_CUDA_COMPILER_VERSION}")
string(REGEX MATCH "^[0-9]+" torch_major "${SVMF_TORCH_CUDA_VERSION}")
if(torch_major AND NOT torch_major STREQUAL nvcc_major)
  svmf_without_cuda("nvcc is of CUDA ${CMAKE_CUDA_COMPILER_VERSION}, but torch ${SVMF_TORCH_VERSION} was built with CUDA ${SVMF_TORCH_CUDA_VERSION}"
    "Use an nvcc of CUDA ${torch_major} (CUDACXX=/path/to/nvcc)")
endif()
set(SVMF_CUDA_ENABLED ON)

# Architectures: TORCH_CUDA_ARCH_LIST, or from Turing to the newest that nvcc knows, with PTX for what comes after it
# (machine code for 8.6 runs on 8.9 too).
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
  set(SVMF_DEFAULT_ARCH_LIST "7.5;8.0;8.6;9.0+PTX")
else()
  set(SVMF_DEFAULT_ARCH_LIST "7.5;8.0;8.6;9.0;10.0;12.0+PTX")
endif()
if("$ENV{TORCH_CUDA_ARCH_LIST}" STREQUAL "")
  set(arch_list "${SVMF_DEFAULT_ARCH_LIST}")
else()
  set(arch_list "$ENV{TORCH_CUDA_ARCH_LIST}")
endif()
include(svmf_cuda_archs)
svmf_parse_cuda_archs("${arch_list}" CMAKE_CUDA_ARCHITECTURES SVMF_CUDA_ARCH_TEXT)
message(STATUS "svmf: CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${SVMF_CUDA_ARCH_TEXT}")
message(STATUS "svmf: the CUDA ops take minutes to compile; SVMF_CUDA=OFF leaves them out, TORCH_CUDA_ARCH_LIST shortens the list")

# The compiler's report on every kernel (registers, spills, shared memory), kept beside the objects for
# tools/cuda_report.py.
option(SVMF_PTXAS_REPORT "Keep ptxas' report of every kernel beside its object" OFF)

# The objects of the CUDA ops. --fmad=false: an fma is written where it is meant, as on the CPU.
function(svmf_add_cuda_ops)
  add_library(svmf_cuda_ops OBJECT ${ARGN})
  target_include_directories(svmf_cuda_ops PRIVATE csrc)
  target_include_directories(svmf_cuda_ops SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_link_libraries(svmf_cuda_ops PRIVATE svmf_compile_options svmf_torch)
  set_target_properties(svmf_cuda_ops PROPERTIES CUDA_VISIBILITY_PRESET hidden)
  set_property(SOURCE csrc/cuda/launch_error.cpp APPEND PROPERTY COMPILE_DEFINITIONS
    SVMF_CUDA_ARCHS="${SVMF_CUDA_ARCH_TEXT}")
  target_compile_definitions(svmf_cuda_ops PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:SVMF_ISA=isa_cuda>)
  target_compile_options(svmf_cuda_ops PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-O3 --fmad=false -Xcompiler=-fno-math-errno -Xcompiler=-Wno-psabi>)
  if(SVMF_WERROR)
    target_compile_options(svmf_cuda_ops PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
  if(SVMF_PTXAS_REPORT)
    target_compile_options(svmf_cuda_ops PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
    set_target_properties(svmf_cuda_ops PROPERTIES
      CUDA_COMPILER_LAUNCHER "${Python_EXECUTABLE};${CMAKE_CURRENT_SOURCE_DIR}/tools/keep_ptxas_report.py")
    # The CUDA ops without the rest: enough to see that everything compiles, links and loads.
    Python_add_library(svmf_cuda_only MODULE ${SVMF_LIMITED_API} EXCLUDE_FROM_ALL
      csrc/schemas.cpp csrc/common/allocation_error.cpp)
    target_include_directories(svmf_cuda_only PRIVATE csrc)
    target_link_libraries(svmf_cuda_only PRIVATE svmf_torch)
    target_link_options(svmf_cuda_only PRIVATE -Wl,-z,defs)
    svmf_link_cuda_ops(svmf_cuda_only)
  endif()
endfunction()

# cudart is linked statically: the module loads on machines without CUDA, and the CPU ops work there.
function(svmf_link_cuda_ops target)
  target_link_libraries(${target} PRIVATE svmf_cuda_ops ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static LINKER_LANGUAGE CUDA)
endfunction()
