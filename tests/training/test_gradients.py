# SPDX-License-Identifier: MIT
"""A captured step against autograd: the same noise, hence the same loss, terms and gradients up to
rounding."""

import pytest
import torch

from svmf.training import MODELS, make_config
from svmf.training.gradients import by_autograd, captured
from svmf.training.run import make_task
from svmf.training.session import Session

CAPTURABLE = [name for name, spec in MODELS.items() if spec.kind != "graph"]
TOLERANCE = 1e-5  # of the largest entry, float32: sums in another order


def evaluate(make, task, step):
    """Loss, terms and gradients of one step."""
    weights = list(task.model.parameters())
    torch.manual_seed(3)
    task.begin_epoch(1)
    evaluation = make(task.model, weights)
    loss, terms = evaluation(*task.batch(step), torch.tensor(0.5))
    return [loss.detach(), terms, *(weight.grad for weight in weights)]


def assert_close(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert a.shape == b.shape
        assert (a - b).abs().max() <= TOLERANCE * b.abs().max().clamp(min=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("model", CAPTURABLE)
def test_captured_equals_autograd(model, options):
    config = make_config(model, **options(model))
    with Session(config) as processes:
        expected = evaluate(by_autograd, make_task(config, processes), 0)
        assert_close(evaluate(captured, make_task(config, processes), 0), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("gradient", ["corrected", "rejection"])
def test_captured_estimators(gradient, options):
    config = make_config("svae", **options("svae", gradient=gradient))
    with Session(config) as processes:
        expected = evaluate(by_autograd, make_task(config, processes), 0)
        assert_close(evaluate(captured, make_task(config, processes), 0), expected)
