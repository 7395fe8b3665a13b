# SPDX-License-Identifier: MIT
"""torch.jit.trace and ONNX: what they take, and what they are told."""

from contextlib import nullcontext

import pytest
import torch
from torch.distributions import kl_divergence

from svmf.distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher

# Sizes become constants of a trace, as torch warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::torch.jit.TracerWarning"
)
LOC = torch.nn.functional.normalize(torch.arange(12.0).view(4, 3) - 5, dim=-1)
KAPPA = torch.tensor([0.5, 3.0, 20.0, 100.0])
UNIFORM = HypersphericalUniform(3)


def vmf(loc, kappa):
    return VonMisesFisher(loc, kappa, validate_args=False)


def power(loc, kappa):
    return PowerSpherical(loc, kappa, validate_args=False)


DETERMINISTIC = {
    "mean": lambda loc, k: vmf(loc, k).mean,
    "log_prob": lambda loc, k: vmf(loc, k).log_prob(loc.flip(0)),
    "kl": lambda loc, k: kl_divergence(vmf(loc, k), UNIFORM),
    "entropy": lambda loc, k: VonMisesFisher(loc, k).entropy(),
}


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_jit_trace_of_functions(name):
    function = DETERMINISTIC[name]
    traced = torch.jit.trace(function, (LOC, KAPPA))
    torch.testing.assert_close(traced(LOC.flip(0), KAPPA * 2), function(LOC.flip(0), KAPPA * 2))


@pytest.mark.parametrize("draw", ["rsample", "sample", "rsample_kl"])
def test_jit_trace_of_samples_is_refused(draw):
    with pytest.raises(RuntimeError, match=r"torch\.jit\.trace would keep one seed"):
        torch.jit.trace(lambda loc, k: getattr(vmf(loc, k), draw)(), (LOC, KAPPA))


ONNX = {
    "mode": (lambda loc, k: vmf(loc, k).mode * 1, True),
    "power mean": (lambda loc, k: power(loc, k).mean, True),
    "power variance": (lambda loc, k: power(loc, k).variance, True),
    "power log_prob": (lambda loc, k: power(loc, k).log_prob(loc.flip(0)), False),
    "power kl": (lambda loc, k: kl_divergence(power(loc, k), UNIFORM), False),
    "power entropy": (lambda loc, k: power(loc, k).entropy(), False),
    "uniform log_prob": (lambda loc, k: UNIFORM.log_prob(loc) + k, True),
    **{name: (function, False) for name, function in DETERMINISTIC.items()},
}


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, loc, kappa):
        return self.function(loc, kappa)


@pytest.mark.parametrize("name", ONNX)
def test_onnx_is_as_the_docs_say(name):
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    function, translates = ONNX[name]
    refused = pytest.raises(torch.onnx.errors.OnnxExporterError, match=r"torch\.ops\.svmf")
    with nullcontext() if translates else refused:
        program = Program(function).eval()
        torch.onnx.export(program, (LOC, KAPPA), dynamo=True, verbose=False)
