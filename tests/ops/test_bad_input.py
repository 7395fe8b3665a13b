# SPDX-License-Identifier: MIT
"""One table of mistakes: the op names the argument, what was expected and what came, in the same
words for real and for fake tensors."""

from contextlib import nullcontext

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import svmf.functional as F

ops = torch.ops.svmf
FLOATING = "torch.float32, torch.float64, torch.bfloat16 or torch.float16"


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


MISTAKES = {
    "integer kappa": (
        lambda: F.vmf_kl_uniform(ones(3, dtype=torch.int64), 5),
        f"vmf_kl_uniform: expected `kappa` of dtype {FLOATING}, got torch.int64",
    ),
    "boolean kappa": (
        lambda: F.vmf_log_norm(ones(3, dtype=torch.bool), 5),
        f"vmf_log_norm: expected `kappa` of dtype {FLOATING}, got torch.bool",
    ),
    "complex x": (
        lambda: F.log_iv(0.5, ones(3, dtype=torch.complex64)),
        f"log_iv: expected `x` of dtype {FLOATING}, got torch.complex64",
    ),
    "unsigned mean_length": (
        lambda: F.vmf_concentration(ones(3, dtype=torch.uint16), 5),
        f"vmf_concentration: expected `mean_length` of dtype {FLOATING}, got torch.uint16",
    ),
    "small dim": (
        lambda: F.vmf_kl_uniform(ones(3), 1),
        "vmf_kl_uniform: expected `dim` to be at least 2, got 1",
    ),
    "zero dim": (
        lambda: F.vmf_entropy(ones(3), 0),
        "vmf_entropy: expected `dim` to be at least 2, got 0",
    ),
    "negative dim": (
        lambda: F.vmf_pathwise_derivative(ones(3), ones(3), -4),
        "vmf_pathwise_derivative: expected `dim` to be at least 2, got -4",
    ),
    "negative order": (
        lambda: F.log_iv(-0.5, ones(3)),
        "log_iv: expected `order` to be at least 0, got -0.5",
    ),
    "order that is not a number": (
        lambda: F.log_ive(float("nan"), ones(3)),
        "log_ive: expected `order` to be at least 0, got nan",
    ),
    "small negative order": (
        lambda: F.iv_ratio(-1e-7, ones(3)),
        "iv_ratio: expected `order` to be at least 0, got -1e-07",
    ),
    "dtypes of order and x": (
        lambda: F.log_iv(ones(3, dtype=torch.float64), ones(3)),
        "log_iv: expected `order` of the dtype of `x` (torch.float32), got torch.float64",
    ),
    "dtypes of w and kappa": (
        lambda: F.vmf_pathwise_derivative(ones(3), ones(3, dtype=torch.float64), 5),
        "vmf_pathwise_derivative: expected `kappa` of the dtype of `w` (torch.float32), "
        "got torch.float64",
    ),
    "dtypes of vectors": (
        lambda: F.householder(ones(3, 4), ones(3, 4, dtype=torch.float64)),
        "householder: expected `loc` of the dtype of `x` (torch.float32), got torch.float64",
    ),
    "dtype of kappa2": (
        lambda: F.vmf_kl(ones(3, 4), ones(3), ones(3, 4), ones(3, dtype=torch.bfloat16)),
        "vmf_kl: expected `kappa2` of the dtype of `loc1` (torch.float32), got torch.bfloat16",
    ),
    "devices of w and kappa": (
        lambda: F.vmf_pathwise_derivative(ones(3), ones(3).to("meta"), 5),
        "vmf_pathwise_derivative: expected `kappa` on the device of `w` (cpu), got meta",
    ),
    "devices of order and x": (
        lambda: F.log_iv(ones(3), ones(3).to("meta")),
        "log_iv: expected `order` on the device of `x` (meta), got cpu",
    ),
    "vectors of one component": (
        lambda: F.vmf_kl(ones(3, 1), ones(3), ones(3, 1), ones(3)),
        "vmf_kl: expected `loc1` of shape [..., m] with m at least 2, got [3, 1]",
    ),
    "shape of kappa in the op": (
        lambda: ops.vmf_log_prob(ones(3, 4), ones(3, 4), ones(4)),
        "vmf_log_prob: expected `kappa` with one value per row of `value` [3, 4], got shape [4]",
    ),
    "integer rho": (
        lambda: F.spherical_cauchy_kl_uniform(ones(3, dtype=torch.int64), 5),
        f"spherical_cauchy_kl_uniform: expected `rho` of dtype {FLOATING}, got torch.int64",
    ),
    "small dim of another family": (
        lambda: F.power_spherical_kl_uniform(ones(3), 1),
        "power_spherical_kl_uniform: expected `dim` to be at least 2, got 1",
    ),
    "shape of rho in the op": (
        lambda: ops.spherical_cauchy_log_prob(ones(3, 4), ones(3, 4), ones(4)),
        "spherical_cauchy_log_prob: expected `rho` with one value per row of `value` [3, 4], "
        "got shape [4]",
    ),
    "dtype of rho": (
        lambda: F.spherical_cauchy_rsample(ones(3, 4), ones(3, dtype=torch.float64)),
        "spherical_cauchy_rsample: expected `rho` of the dtype of `loc` (torch.float32), "
        "got torch.float64",
    ),
    "vectors of one component, power spherical": (
        lambda: F.power_spherical_rsample_kl(ones(3, 1), ones(3)),
        "power_spherical_rsample_kl: expected `loc` of shape [..., m] with m at least 2, "
        "got [3, 1]",
    ),
    "shape of order in the op": (
        lambda: ops.log_iv.tensor(ones(2, 3), ones(3)),
        "log_iv: expected `order` of the shape of `x` [3], got [2, 3]",
    ),
    "shape of loc in the op": (
        lambda: ops.householder(ones(3, 4), ones(3, 5)),
        "householder: expected `loc` of the shape of `x` [3, 4], got [3, 5]",
    ),
}


@pytest.mark.parametrize("tensors", ["real", "fake"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_message(mistake: str, tensors: str) -> None:
    call, message = MISTAKES[mistake]
    mode = FakeTensorMode() if tensors == "fake" else nullcontext()
    with mode, pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).splitlines()[0] == message


def test_fake_cuda_device() -> None:
    with FakeTensorMode(), pytest.raises(RuntimeError) as caught:
        F.vmf_pathwise_derivative(ones(3), torch.ones(3, device="cuda"), 5)
    assert str(caught.value) == (
        "vmf_pathwise_derivative: expected `kappa` on the device of `w` (cpu), got cuda:0"
    )


@pytest.mark.parametrize(
    "dtype", [torch.int32, torch.float8_e5m2, torch.uint64, torch.int8], ids=str
)
def test_every_other_dtype_is_called_by_its_name(dtype: torch.dtype) -> None:
    with pytest.raises(RuntimeError, match=f"got {dtype}$"):
        F.vmf_kl_uniform(torch.empty(2, dtype=dtype), 3)
