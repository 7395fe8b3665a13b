// SPDX-License-Identifier: MIT
// Errors meant for the user, which Python sees as a RuntimeError with this text and nothing else:
// STD_TORCH_CHECK would put the path and line of the source before it.
#pragma once

#include <sstream>
#include <stdexcept>

namespace svmf {

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw std::runtime_error(text.str());
}

}  // namespace svmf
