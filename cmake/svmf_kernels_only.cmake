# SPDX-License-Identifier: MIT
# Development only: programs over the row kernels alone, for processors and systems whose Python and torch are not here
# (tests/aarch64), and for looking at one instruction set with a tool (tests/benchmarking).
foreach(isa IN LISTS SVMF_CPU_ISAS)
  foreach(program tests/aarch64/row_values tests/benchmarking/row_kernels_driver)
    get_filename_component(name ${program} NAME)
    add_executable(${name}_${isa} ${program}.cpp)
    target_include_directories(${name}_${isa} PRIVATE csrc)
    target_compile_definitions(${name}_${isa} PRIVATE SVMF_ISA=isa_${isa})
    target_compile_options(${name}_${isa} PRIVATE ${svmf_flags_${isa}})
    target_link_libraries(${name}_${isa} PRIVATE svmf_compile_options svmf_rows_${isa})
    if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
      target_link_options(${name}_${isa} PRIVATE -static)
    endif()
  endforeach()
endforeach()
