// SPDX-License-Identifier: MIT
// A plugin for qemu's user mode: prints how many instructions the program executed. qemu's
// interface for plugins is declared here as far as it is used, because distributions do not install
// its header.
//
//     cc -shared -fPIC -o count_instructions.so count_instructions.c
//     qemu-aarch64 -plugin ./count_instructions.so -d plugin PROGRAM
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info_t;
typedef void (*translated_t)(qemu_plugin_id_t id, struct qemu_plugin_tb* block);
typedef void (*finished_t)(qemu_plugin_id_t id, void* data);
enum { kAddInline = 0 };  // QEMU_PLUGIN_INLINE_ADD_U64

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_t callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation,
                                              void* counter, uint64_t step);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, finished_t callback, void* data);
void qemu_plugin_outs(const char* text);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t instructions;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddInline, &instructions,
                                           qemu_plugin_tb_n_insns(block));
}

static void finished(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  char text[64];
  snprintf(text, sizeof text, "instructions %" PRIu64 "\n", instructions);
  qemu_plugin_outs(text);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const struct qemu_info_t* info,
                                                               int count, char** arguments) {
  (void)info;
  (void)count;
  (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
