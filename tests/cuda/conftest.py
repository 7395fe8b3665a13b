# SPDX-License-Identifier: MIT
"""The tests of this folder run on the GPU. Most take their device by parametrisation and run on the
CPU as well, with the same expectations, so that they are seen to work where there is no GPU."""

import pytest
import torch

import svmf

NEEDS = "needs a CUDA device, a torch with CUDA and svmf built with it (make test-cuda)"


def has_cuda() -> bool:
    return torch.cuda.is_available() and bool(svmf.build_info()["cuda"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if has_cuda():
        return
    for item in items:
        if item.get_closest_marker("needs_cuda"):
            item.add_marker(pytest.mark.skip(reason=NEEDS))


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.needs_cuda)])
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.param)
