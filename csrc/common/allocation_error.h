// SPDX-License-Identifier: MIT
// What a failed allocation is reported as: with torch's own words and, for a GPU without memory,
// as torch.OutOfMemoryError, so that programs that catch it and try a smaller batch go on working.
#pragma once

#include <string>

namespace svmf {

// `what` is the tensor that was asked for; `torch_says` the text of torch's error, which may be
// empty.
[[noreturn]] void fail_allocation(const std::string& what, const std::string& torch_says,
                                  bool on_cuda);

// The text of the error that the last failed call of torch's C interface met; empty before torch
// 2.13, which does not keep it.
std::string last_torch_error();

}  // namespace svmf
