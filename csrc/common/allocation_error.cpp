// SPDX-License-Identifier: MIT
// torch's C interface turns exceptions into a code, and its C++ classes are not part of the stable
// ABI. Two things are therefore looked up by name when the module is loaded, and done without where
// a torch does not have them: the text of the last error, and the constructor of
// c10::OutOfMemoryError. The constructor and the virtual destructor are torch's own, so nothing
// here knows the layout of the class; all that is assumed is that it fits in kLargestException
// bytes and begins as a std::exception.
#include "common/allocation_error.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "common/fail.h"

namespace {

// c10::SourceLocation, which the constructor takes by value.
struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

constexpr size_t kLargestException = 4096;

}  // namespace

extern "C" {

__attribute__((weak)) const char* torch_exception_get_what_without_backtrace();

// c10::OutOfMemoryError::OutOfMemoryError(c10::SourceLocation, std::string), and its type_info.
__attribute__((weak)) void
svmf_construct_out_of_memory(void* self, SourceLocation, std::string) __asm__(
    "_ZN3c1016OutOfMemoryErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_"
    "traitsIcESaIcEEE");
extern __attribute__((weak))
const char svmf_type_of_out_of_memory __asm__("_ZTIN3c1016OutOfMemoryErrorE");

// The C++ runtime's own, as the Itanium ABI has them.
void* __cxa_allocate_exception(size_t size) noexcept;
[[noreturn]] void __cxa_throw(void* exception, void* type, void (*destroy)(void*));

}  // extern "C"

namespace svmf {

namespace {

void destroy_exception(void* exception) { static_cast<std::exception*>(exception)->~exception(); }

void throw_out_of_memory_if_known(const std::string& text) {
  if (&svmf_construct_out_of_memory == nullptr || &svmf_type_of_out_of_memory == nullptr) return;
  void* const exception = __cxa_allocate_exception(kLargestException);
  svmf_construct_out_of_memory(exception, SourceLocation{"svmf", __FILE__, 0}, text);
  __cxa_throw(exception, const_cast<char*>(&svmf_type_of_out_of_memory), &destroy_exception);
}

}  // namespace

std::string last_torch_error() {
  if (&torch_exception_get_what_without_backtrace == nullptr) return "";
  const char* const text = torch_exception_get_what_without_backtrace();
  return text == nullptr ? "" : text;
}

void fail_allocation(const std::string& what, const std::string& torch_says, bool on_cuda) {
  const bool memory = torch_says.empty() || torch_says.find("memory") != std::string::npos;
  if (on_cuda && memory)
    throw_out_of_memory_if_known(torch_says.empty() ? "CUDA out of memory: " + what : torch_says);
  const char* const colon = torch_says.empty() ? "" : ": ";
  fail("svmf: ", memory ? "no memory for " : "torch cannot make ", what, colon, torch_says);
}

}  // namespace svmf
