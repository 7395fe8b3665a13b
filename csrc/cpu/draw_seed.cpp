// SPDX-License-Identifier: MIT
// The next seed of torch's default generator, for compiled graphs (svmf/_seed.py): the number that
// Tensor.random_ draws, without a pass through Python.
#include "cpu/draw_seed.h"

#include <array>

#include "common/tensors.h"

namespace svmf::cpu {

Tensor draw_seed(const Tensor& like) {
  using torch::stable::detail::from;
  constexpr int64_t kLimit = INT64_MAX;  // the twin of _LIMIT in svmf/_seed.py
  const Tensor seed = empty_like_contiguous(like);
  // aten::random_.to(self, to, *, generator=None)
  std::array<StableIValue, 3> stack{from(seed), from(kLimit), from(std::nullopt)};
  TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher("aten::random_", "to", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

}  // namespace svmf::cpu
