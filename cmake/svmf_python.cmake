# SPDX-License-Identifier: MIT
# The Python that drives the build. The module keeps to the limited API of 3.10, except in a free-threaded Python, which
# has none (before 3.15): there it serves that version alone. setup.py tags the wheel accordingly.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0, end='')"
  OUTPUT_VARIABLE SVMF_FREE_THREADED COMMAND_ERROR_IS_FATAL ANY)
if(SVMF_FREE_THREADED)
  set(SVMF_LIMITED_API "")
else()
  set(SVMF_LIMITED_API USE_SABI 3.10)
endif()
