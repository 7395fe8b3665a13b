// SPDX-License-Identifier: MIT
// An empty Python module: importing it loads the shared library, whose static initialisers register
// the ops.
#include <Python.h>

PyMODINIT_FUNC PyInit__C(void) {
  static PyModuleDef_Slot slots[] = {{0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}
