# SPDX-License-Identifier: MIT
"""A captured step against autograd: the same noise, hence the same loss, terms and gradients up to
rounding; and a captured run, stopped and continued, to the bit."""

import pytest
import torch

from svmf.training import MODELS, RunFolder, continue_run, make_config, start_run
from svmf.training.environment import run_environment
from svmf.training.gradients import by_autograd, captured
from svmf.training.run import make_task

TOLERANCE = 1e-5  # of the largest entry, float32: sums in another order
# compilation takes seconds per case: the first is in every test run
CASES = [("svae", "pathwise")] + [
    pytest.param(model, gradient, marks=pytest.mark.slow)
    for model, spec in MODELS.items()
    for gradient in ("pathwise", "corrected", "rejection")
    if spec.kind != "graph"
    and (gradient == "pathwise" or model == "svae")
    and (model, gradient) != ("svae", "pathwise")
]


def evaluate(make, task, step):
    """Loss, terms and gradients of one step."""
    weights = list(task.model.parameters())
    torch.manual_seed(3)
    task.begin_epoch(1)
    loss, terms = make(task.model, weights)(*task.batch(step), torch.tensor(0.5))
    return [loss.detach(), terms, *(weight.grad for weight in weights)]


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize(("model", "gradient"), CASES)
def test_captured_equals_autograd(model, gradient, options):
    config = make_config(model, **options(model, gradient=gradient))
    with run_environment(config) as processes:
        expected = evaluate(by_autograd, make_task(config, processes), 0)
        actual = evaluate(captured, make_task(config, processes), 0)
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.shape == theirs.shape
        assert (ours - theirs).abs().max() <= TOLERANCE * theirs.abs().max().clamp(min=1)


def test_another_variant_is_another_function(monkeypatch):
    made = []

    def capture(model, example):
        number = torch.tensor(float(len(made)))
        made.append(number)
        return lambda *arguments: (number, None)

    monkeypatch.setattr("svmf.training.gradients._capture", capture)
    variant = ["all"]
    evaluate = captured(torch.nn.Module(), [], lambda: variant[0])
    x = torch.zeros(2)
    losses = []
    for variant[0] in ("all", "few", "all", "few"):
        losses.append(float(evaluate(x)[0]))
    assert losses == [0.0, 1.0, 0.0, 1.0]
    assert len(made) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_captured_run_continues_to_the_bit(options, tmp_path):
    whole = make_config("nvae", **options("nvae", compile=True, epochs=4))
    start_run(whole, tmp_path / "whole")
    start_run(
        make_config("nvae", **options("nvae", compile=True, epochs=2)), tmp_path / "continued"
    )
    continue_run(tmp_path / "continued", {"epochs": 4})
    first, second = (
        torch.load(RunFolder(tmp_path / name).checkpoint_path, weights_only=True)["model"]
        for name in ("whole", "continued")
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
