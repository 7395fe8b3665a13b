// SPDX-License-Identifier: MIT
// The types that the signatures in common/ops.inc are written with.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace svmf {

using torch::stable::Tensor;
using TwoTensors = std::tuple<Tensor, Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using FourNumbers = std::tuple<double, double, double, double>;

}  // namespace svmf
