// SPDX-License-Identifier: MIT
// Switching between stacks. Written out for x86-64, because swapcontext makes two system calls per
// switch and the address sanitizer clears the whole stack's shadow on each; other machines take
// ucontext all the same.
#pragma once

#if defined(__x86_64__)
#include <cstdint>
#else
#include <ucontext.h>
#endif
#include <cstddef>

namespace emulation {

#if defined(__x86_64__)

// Saves the registers that a call preserves and the stack pointer; continues where `to` was saved.
extern "C" void svmf_emulation_switch(void** from, void* to);
asm(R"(
.text
.globl svmf_emulation_switch
.type svmf_emulation_switch, @function
svmf_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size svmf_emulation_switch, .-svmf_emulation_switch
)");

struct Context {
  void* stack_pointer = nullptr;
};

inline void make_context(Context* context, char* stack, size_t size, void (*function)()) {
  // At the function's entry the stack pointer is 8 below a multiple of 16, as after a call.
  void** top =
      reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(stack + size) & ~uintptr_t(15)) - 1;
  *top = nullptr;
  *--top = reinterpret_cast<void*>(function);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  context->stack_pointer = top;
}
inline void switch_context(Context* from, Context* to) {
  svmf_emulation_switch(&from->stack_pointer, to->stack_pointer);
}

#else

struct Context {
  ucontext_t context;
};

inline void make_context(Context* context, char* stack, size_t size, void (*function)()) {
  getcontext(&context->context);
  context->context.uc_stack.ss_sp = stack;
  context->context.uc_stack.ss_size = size;
  makecontext(&context->context, function, 0);
}
inline void switch_context(Context* from, Context* to) {
  swapcontext(&from->context, &to->context);
}

#endif

}  // namespace emulation
