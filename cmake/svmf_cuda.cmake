# SPDX-License-Identifier: MIT
# Decides whether the CUDA ops are built, for which architectures, and how. A GPU is not needed, only nvcc.
set(SVMF_CUDA_ENABLED OFF)
set(SVMF_CUDA_ARCH_TEXT "")
if(NOT SVMF_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "svmf: expected SVMF_CUDA to be AUTO, ON or OFF, got '${SVMF_CUDA}'")
endif()
if(SVMF_CUDA STREQUAL "OFF")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(SVMF_CUDA STREQUAL "ON")
    message(FATAL_ERROR
      "svmf: SVMF_CUDA=ON, but no nvcc was found. Put nvcc on PATH, or set CUDACXX=/path/to/nvcc, or build with SVMF_CUDA=OFF.")
  endif()
  message(STATUS "svmf: no nvcc found, building for the CPU only (SVMF_CUDA=AUTO)")
  return()
endif()

enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(SVMF_CUDA_ENABLED ON)
# Tables are kernel parameters of more than 4 KB.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.1)
  message(FATAL_ERROR "svmf: expected an nvcc of CUDA 12.1 or newer, found ${CMAKE_CUDA_COMPILER_VERSION}")
endif()

# nvcc and torch must agree on CUDA's major version; a CPU-only torch has none and takes any.
string(REGEX MATCH "^[0-9]+" nvcc_major "${CMAKE_CUDA_COMPILER_VERSION}")
string(REGEX MATCH "^[0-9]+" torch_major "${SVMF_TORCH_CUDA_VERSION}")
if(torch_major AND NOT torch_major STREQUAL nvcc_major)
  message(FATAL_ERROR
    "svmf: nvcc is of CUDA ${CMAKE_CUDA_COMPILER_VERSION}, but torch ${SVMF_TORCH_VERSION} was built with CUDA "
    "${SVMF_TORCH_CUDA_VERSION}. Use an nvcc of CUDA ${torch_major} (CUDACXX=/path/to/nvcc), or SVMF_CUDA=OFF.")
endif()

# Architectures: TORCH_CUDA_ARCH_LIST ("8.0;9.0+PTX", also with spaces), or from Turing to the newest that nvcc knows, with
# PTX for what comes after it (machine code for 8.6 runs on 8.9 too). Entries without +PTX get machine code only.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
  set(SVMF_DEFAULT_ARCH_LIST "7.5;8.0;8.6;9.0+PTX")
else()
  set(SVMF_DEFAULT_ARCH_LIST "7.5;8.0;8.6;9.0;10.0;12.0+PTX")
endif()
if(DEFINED ENV{TORCH_CUDA_ARCH_LIST} AND NOT "$ENV{TORCH_CUDA_ARCH_LIST}" STREQUAL "")
  string(REPLACE " " ";" arch_list "$ENV{TORCH_CUDA_ARCH_LIST}")
else()
  set(arch_list ${SVMF_DEFAULT_ARCH_LIST})
endif()
set(architectures "")
foreach(entry IN LISTS arch_list)
  if(NOT entry MATCHES "^([0-9]+)\\.([0-9]+)([af]?)(\\+PTX)?$")
    message(FATAL_ERROR "svmf: expected entries like 8.0 or 12.0+PTX in TORCH_CUDA_ARCH_LIST, got '${entry}'")
  endif()
  set(arch ${CMAKE_MATCH_1}${CMAKE_MATCH_2}${CMAKE_MATCH_3})
  if(CMAKE_MATCH_4)
    list(APPEND architectures ${arch})
  else()
    list(APPEND architectures ${arch}-real)
  endif()
endforeach()
set(CMAKE_CUDA_ARCHITECTURES ${architectures})
string(REPLACE ";" " " SVMF_CUDA_ARCH_TEXT "${arch_list}")
message(STATUS "svmf: CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${SVMF_CUDA_ARCH_TEXT}")

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
    Python_add_library(svmf_cuda_only MODULE USE_SABI 3.10 EXCLUDE_FROM_ALL csrc/schemas.cpp)
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
