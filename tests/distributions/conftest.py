# SPDX-License-Identifier: MIT
"""Values that nothing of svmf made, and rows to cluster."""

from types import ModuleType

import helpers.exact
import pytest
import torch

from svmf.distributions import VonMisesFisher


@pytest.fixture(autouse=True)
def checked(values_are_checked):
    pass


@pytest.fixture
def exact() -> ModuleType:
    return helpers.exact


@pytest.fixture(scope="module")
def clusters() -> tuple[torch.Tensor, torch.Tensor]:
    """Three well-separated clusters in R^5 and the cluster of each row."""
    kappa = torch.tensor([80.0, 30.0, 200.0], dtype=torch.float64)
    truth = VonMisesFisher(torch.eye(5, dtype=torch.float64)[:3], kappa)
    rows = truth.sample((400,), generator=torch.Generator().manual_seed(0))
    return rows.reshape(-1, 5), torch.arange(3).repeat(400)
