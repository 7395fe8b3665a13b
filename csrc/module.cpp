// SPDX-License-Identifier: MIT
// An empty Python module: importing it loads the shared library, whose static initialisers register
// the ops.
#include <Python.h>

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__C(void) {
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&definition);
}
