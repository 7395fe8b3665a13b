# SPDX-License-Identifier: MIT
# torch as seen through its stable ABI: header files and two libraries, asked of the Python that drives the build.
# find_package(Torch) is not needed, and would want a whole CUDA toolkit with a CUDA torch.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import os, torch; print(os.path.dirname(torch.__file__), torch.__version__, torch.version.cuda or '', sep=';', end='')"
  OUTPUT_VARIABLE torch_facts
  ERROR_VARIABLE torch_error
  RESULT_VARIABLE torch_result)
if(NOT torch_result EQUAL 0)
  message(FATAL_ERROR
    "svmf: ${Python_EXECUTABLE} cannot import torch, which the build needs for its headers. Install torch >= 2.10 in "
    "that environment first and build with --no-build-isolation.\n${torch_error}")
endif()
list(GET torch_facts 0 SVMF_TORCH_DIR)
list(GET torch_facts 1 SVMF_TORCH_VERSION)
list(GET torch_facts 2 SVMF_TORCH_CUDA_VERSION)
if(NOT EXISTS ${SVMF_TORCH_DIR}/include/torch/csrc/stable/ops.h OR SVMF_TORCH_VERSION VERSION_LESS 2.10)
  message(FATAL_ERROR "svmf: expected torch >= 2.10 (stable ABI with parallel_for), found ${SVMF_TORCH_VERSION}")
endif()

add_library(svmf_torch INTERFACE)
target_include_directories(svmf_torch SYSTEM INTERFACE ${SVMF_TORCH_DIR}/include)
target_link_directories(svmf_torch INTERFACE ${SVMF_TORCH_DIR}/lib)
target_link_libraries(svmf_torch INTERFACE torch_cpu c10)
# The oldest torch whose stable headers have all that svmf uses (parallel_for, empty, contiguous): see docs/building.md.
target_compile_definitions(svmf_torch INTERFACE TORCH_TARGET_VERSION=0x020a000000000000)
