# SPDX-License-Identifier: MIT
"""Every candidate computes what it is measured for, and one that is not installed costs a line."""

import sys
import types

import numpy
import pytest
import torch

import svmf.benchmarking.sampler as sampler
import svmf.compat.hyperspherical_vae.distributions as compat
from benchmarks.peers import BY_NAME, CANDIDATES, Peer
from benchmarks.special import SPECIAL_OPS, special_calls
from svmf.benchmarking.cases import Case, Shape
from svmf.benchmarking.sampler import Candidate, installed, measure
from svmf.distributions import HypersphericalUniform, PowerSpherical

SHAPES = [Shape(1, 3, 4), Shape(2, 3, 4)]
VMF = ("svmf", "class", "reference", "published", "hyperspherical_vae", "power_spherical")


@pytest.fixture
def stand_ins(monkeypatch):
    """Modules under the names of the two packages, with their documented classes."""
    package = types.ModuleType("hyperspherical_vae")
    package.__spec__ = types.SimpleNamespace()
    package.distributions = compat
    monkeypatch.setitem(sys.modules, "hyperspherical_vae", package)
    monkeypatch.setitem(sys.modules, "hyperspherical_vae.distributions", compat)
    power = types.ModuleType("power_spherical")
    power.__spec__ = types.SimpleNamespace()
    power.PowerSpherical, power.HypersphericalUniform = PowerSpherical, HypersphericalUniform
    monkeypatch.setitem(sys.modules, "power_spherical", power)


def result(name: str, case: Case) -> object:
    return BY_NAME[name].calls[case.op](case)()


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [c.name for c in CANDIDATES if c.name not in ("SciPy", "TFP")])
def test_samples_have_the_shape_of_the_case(name, shape):
    for dtype in ("float32", "float64"):
        case = Case("sample", shape, 20.0, dtype)
        z = result(name, case)
        assert z.shape == (*shape.sample_shape, 3, 4)
        assert z.dtype == case.like["dtype"]
        if name in VMF:
            torch.testing.assert_close(
                z.norm(dim=-1), torch.ones_like(z[..., 0]), rtol=0, atol=1e-4
            )


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [c.name for c in CANDIDATES if "step" in c.calls])
def test_steps_give_a_finite_gradient_of_each_parameter(name, shape):
    case = Case("step", shape, 20.0)
    gradients = result(name, case)
    assert len(gradients) == (1 if name == "copy" else 2)
    for gradient in gradients:
        assert gradient.isfinite().all()
        assert gradient.abs().sum() > 0


def test_scipy_samples():
    z = result("SciPy", Case("sample", Shape(2, 3, 4)))
    assert z.shape == (6, 4)
    numpy.testing.assert_allclose(numpy.linalg.norm(z, axis=-1), 1)


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setattr(sampler.importlib.util, "find_spec", lambda name: None)
    lines: list[str] = []
    found = installed(CANDIDATES, lines.append)
    assert [c.name for c in found] == [c.name for c in CANDIDATES if not c.packages]
    assert "TFP: skipped, the package tensorflow_probability is not installed" in lines
    assert len(lines) + len(found) == len(CANDIDATES)


def test_a_competitor_that_fails_is_left_out_with_its_reason():
    def refuse(case):
        raise NotImplementedError("not for you\nin two lines")

    for calls in ({"sample": refuse}, {"sample": lambda case: lambda: refuse(case)}):
        broken = Peer("other", calls, packages=("numpy",))
        case = Case("sample", Shape(1, 2, 3))
        timings = measure(case, [BY_NAME["randn"], broken], seconds=0.002)
        assert list(timings) == ["randn"]
        assert broken.failures[0].endswith("NotImplementedError: not for you")
        with pytest.raises(NotImplementedError):
            measure(case, [Candidate("svmf", calls)], seconds=0.002)


def test_slow_candidates_are_spared_large_shapes():
    assert not BY_NAME["reference"].applies(Case("step", Shape(1, 1_000_000, 10)))
    assert not BY_NAME["reference"].applies(Case("step", Shape(1, 10, 10), device="cuda:0"))
    assert BY_NAME["svmf"].applies(Case("step", Shape(1, 1_000_000, 10), device="cuda:0"))


@pytest.mark.parametrize("name", SPECIAL_OPS)
def test_functions_agree_on_every_side(name):
    """What is timed is the same quantity: svmf, SciPy's formula and the reference."""
    op = SPECIAL_OPS[name]
    value = op.values[1]
    calls = special_calls(op, value, 400)
    double, single = (_first(calls[side]()) for side in ("float64", "float32"))
    torch.testing.assert_close(single.double(), double, rtol=2e-3, atol=2e-3)
    if "SciPy" in calls:
        theirs = torch.from_numpy(numpy.asarray(_first(calls["SciPy"]())))
        torch.testing.assert_close(theirs, double, rtol=1e-6, atol=1e-8)
    if name != "vmf_kl_uniform":
        torch.testing.assert_close(calls["reference"](), calls["few"](), rtol=1e-6, atol=1e-8)


def _first(result):
    return result[0] if isinstance(result, tuple) else result
