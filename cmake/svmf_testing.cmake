# SPDX-License-Identifier: MIT
# Development only, never installed: csrc/math behind pybind11, so that the tests can call single functions.
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
  OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 CONFIG REQUIRED)
pybind11_add_module(svmf_math NO_EXTRAS csrc/testing/module.cpp)
target_include_directories(svmf_math PRIVATE csrc)
target_link_libraries(svmf_math PRIVATE svmf_compile_options)
# Both lane types of csrc/math are tested: the scalar one and the widest that every x86-64 test machine has.
if(SVMF_IS_X86_64 AND NOT SVMF_TESTING_BASELINE)
  target_compile_definitions(svmf_math PRIVATE SVMF_ISA=isa_testing_avx2)
  target_compile_options(svmf_math PRIVATE ${svmf_flags_avx2})
endif()
set_target_properties(svmf_math PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/testing)
