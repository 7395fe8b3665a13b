# SPDX-License-Identifier: MIT
"""Every candidate computes what it is measured for, and one that is not installed costs a line."""

import sys
import types

import numpy
import pytest
import torch

import svmf.benchmarking.sampler as sampler
import svmf.compat.hyperspherical_vae.distributions as compat
import svmf.functional as F
from benchmarks import plain_spherical_cauchy, published_formulas
from benchmarks.latent_families import family_steps
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


@pytest.mark.parametrize("m", [2, 3, 10, 64, 1024, 4096])
def test_the_plain_spherical_cauchy_is_a_fair_rival(m):
    """Its divergence and slope are right to float32's digits, its samples have the mean."""
    rho = torch.tensor([1e-3, 0.1, 0.5, 0.7, 0.9], requires_grad=True)
    kl = plain_spherical_cauchy.kl_uniform(rho, m)
    ours = F.spherical_cauchy_kl_uniform(rho, m)
    torch.testing.assert_close(kl, ours, rtol=1e-6, atol=0)
    slopes = [torch.autograd.grad(value.sum(), rho)[0] for value in (kl, ours)]
    torch.testing.assert_close(*slopes, rtol=1e-6, atol=0)
    torch.manual_seed(0)
    loc = torch.nn.functional.normalize(torch.ones(4000, m), dim=-1)
    w = (plain_spherical_cauchy.rsample(loc, torch.full((4000,), 0.5)) * loc).sum(-1)
    mean = F.spherical_cauchy_mean_length(torch.tensor(0.5), m)
    assert abs(float(w.mean() - mean)) < 5 * float(w.std()) / 4000**0.5  # false alarm 6e-7


@pytest.mark.parametrize(("m", "short"), [(10, 0.0), (1024, 13.9), (4096, numpy.nan)])
def test_where_the_published_divergence_breaks(m, short):
    """At kappa = 4 m, where the families' steps are timed."""
    kappa = torch.full((1,), 4.0 * m)
    theirs = published_formulas.kl_uniform(kappa.unsqueeze(-1), m)
    ours = F.vmf_kl_uniform(kappa.double(), m)
    assert float(ours - theirs) == pytest.approx(short, abs=0.05, nan_ok=True)


def test_every_familys_step_gives_finite_gradients():
    for name, step in family_steps(3, 10).items():
        for gradient in step():
            assert bool(gradient.isfinite().all()), name
