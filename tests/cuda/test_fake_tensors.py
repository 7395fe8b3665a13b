# SPDX-License-Identifier: MIT
"""Shapes, types and devices of the results on CUDA, by fake tensors: this needs no GPU. (Autograd
of fake CUDA tensors needs a torch with CUDA.)"""

import pytest
import torch
from helpers.op_cases import CASES, Case
from torch._subclasses.fake_tensor import FakeTensorMode

import svmf.functional as F


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_stay_on_the_device(case: Case) -> None:
    real = case.tensors(torch.float32)
    want = case.call(*real)
    with FakeTensorMode():
        value = case.call(*(torch.empty(t.shape, device="cuda") for t in real))
        assert (value.device.type, value.dtype, value.shape) == ("cuda", want.dtype, want.shape)


def test_samples_stay_on_the_device() -> None:
    with FakeTensorMode():
        loc, kappa = torch.empty(7, 5, device="cuda"), torch.empty(7, device="cuda")
        z, kl = F.vmf_rsample_kl(loc, kappa, (2, 3))
        assert (z.device.type, z.shape, kl.shape) == ("cuda", (2, 3, 7, 5), (7,))
