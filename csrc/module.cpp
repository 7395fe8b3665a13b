// SPDX-License-Identifier: MIT
// An empty Python module: importing it loads the shared library, whose static initialisers register
// the ops. It has no state of Python's, and torch calls the ops without the GIL anyway.
#include <Python.h>

PyMODINIT_FUNC PyInit__C(void) {
  static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
      {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
      {0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}
