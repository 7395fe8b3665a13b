# SPDX-License-Identifier: MIT
# TORCH_CUDA_ARCH_LIST as torch's own extensions take it: numbers and names, separated by semicolons or spaces, each with
# or without +PTX. An entry with +PTX gets machine code and PTX, one without gets machine code only.
#
# svmf_parse_cuda_archs(<list> <architectures> <text>) sets the value for CMAKE_CUDA_ARCHITECTURES and the entries as text.
set(svmf_oldest_arch 7.5)  # nvcc 13 knows none before it, and older nvcc's code for them is not tested

# Names that contain another come first.
set(svmf_arch_names
  "Kepler+Tesla=3.7" "Kepler=3.5+PTX" "Maxwell+Tegra=5.3" "Maxwell=5.0;5.2+PTX" "Pascal=6.0;6.1+PTX" "Volta+Tegra=7.2"
  "Volta=7.0+PTX" "Turing=7.5+PTX" "Ampere+Tegra=8.7" "Ampere=8.0;8.6+PTX" "Ada=8.9+PTX" "Hopper=9.0+PTX"
  "Blackwell+Tegra=11.0" "Blackwell=10.0;10.3;12.0;12.1+PTX")

function(svmf_parse_cuda_archs given architectures_variable text_variable)
  if(given STREQUAL "native")  # those of the GPUs in this machine; CMake asks them
    set(${architectures_variable} native PARENT_SCOPE)
    set(${text_variable} native PARENT_SCOPE)
    return()
  endif()
  string(REGEX REPLACE "[ ;]+" "|" entries "${given}")
  # A list of lists: `;` inside a name's entries becomes `|`.
  string(REPLACE ";" "|" names "${svmf_arch_names}")
  string(REGEX REPLACE "\\|([A-Z])" ";\\1" names "${names}")
  foreach(name_and_archs IN LISTS names)
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${name_and_archs}")
    string(REPLACE "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" entries "${entries}")
  endforeach()
  string(REPLACE "|" ";" entries "${entries}")
  list(REMOVE_DUPLICATES entries)
  set(architectures "")
  foreach(entry IN LISTS entries)
    if(NOT entry MATCHES "^([0-9]+)\\.([0-9])([af]?)(\\+PTX)?$")
      message(FATAL_ERROR
        "svmf: expected entries like 8.0, 12.0+PTX or Ampere in TORCH_CUDA_ARCH_LIST, got '${entry}' in '${given}'")
    endif()
    set(arch ${CMAKE_MATCH_1}${CMAKE_MATCH_2}${CMAKE_MATCH_3})
    set(ptx "${CMAKE_MATCH_4}")
    if("${CMAKE_MATCH_1}.${CMAKE_MATCH_2}" VERSION_LESS svmf_oldest_arch)
      message(FATAL_ERROR
        "svmf: expected architectures from ${svmf_oldest_arch} (Turing) on in TORCH_CUDA_ARCH_LIST, got '${entry}' in "
        "'${given}'. Leave it out; on older GPUs svmf runs on the CPU.")
    endif()
    if(ptx)
      list(APPEND architectures ${arch})
    else()
      list(APPEND architectures ${arch}-real)
    endif()
  endforeach()
  string(REPLACE ";" " " text "${entries}")
  set(${architectures_variable} "${architectures}" PARENT_SCOPE)
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()
