# SPDX-License-Identifier: MIT
"""The steps of every family at high m, and the parts of the posterior's gap at d = 2."""

import json
import math

import pytest
import torch

from reproduction import high_dimension, posterior_gap
from reproduction.__main__ import main
from reproduction.record import Workspace
from svmf.models import VAE, Bernoulli, SphericalLatent
from svmf.training import make_config, start_run


@pytest.mark.parametrize("m", high_dimension.SIZES)
def test_the_products_have_as_many_coordinates(m):
    for name, latent in high_dimension.latents_of(m).items():
        assert latent.coordinates == (m - 1 if name == high_dimension.BASE else m), name


def test_quick(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["high-dimension", "--quick"]) == 0
    (path,) = (tmp_path / "results-quick" / "high-dimension").iterdir()
    result = json.loads(path.read_text())
    assert result["families"]["N"]["share"] == 1
    for name, figures in result["families"].items():
        assert figures["finite"], name
        assert figures["last"] > -1e4, name
    text = (tmp_path / "results-quick" / "beyond.md").read_text()
    assert "| 128 | vMF |" in text


def test_a_gradient_that_is_not_finite_is_seen():
    learner = high_dimension.Learner(SphericalLatent(3), 4)
    learner.step(torch.ones(2, 4))
    assert learner.finite
    learner.step(torch.full((2, 4), math.nan))
    learner.step(torch.ones(2, 4))
    assert not learner.finite


def test_nothing_yet(tmp_path):
    assert high_dimension.table(Workspace(tmp_path, tmp_path)) == ""


def test_bounds_lie_in_their_order():
    """Untrained decoder, but sharp: exact >= best flow, best vMF >= the encoder's, to Monte Carlo's
    accuracy."""
    torch.manual_seed(0)
    model = VAE(20, SphericalLatent(2), Bernoulli(), (16,))
    with torch.no_grad():
        model.decoder[-1].weight *= 4
    x = (torch.rand(12, 20) < 0.5).float()
    exact, found = posterior_gap.bounds(model, x, steps=150, layers=(1,))
    encoder, best, flow = (row.elbo for row in found)
    assert best > encoder + 0.3
    assert exact > max(best, flow) - 0.02
    assert flow > best - 0.05
    assert all(row.gap == pytest.approx(exact - row.elbo) for row in found)


def test_the_gap_of_a_run(tmp_path, capsys):
    options = {"data": "digits", "dim": 2, "epochs": 1, "hidden": (16,), "warm_up": 0}
    start_run(make_config("svae", **options), tmp_path / "run")
    posterior_gap.main([str(tmp_path / "run"), "--images", "10", "--steps", "3"])
    out = capsys.readouterr().out
    assert out.startswith("10 test images, exact log-likelihood -")
    assert "| best flow of 4 layers | -" in out
    start_run(make_config("nvae", **options), tmp_path / "other")
    with pytest.raises(SystemExit):
        posterior_gap.main([str(tmp_path / "other")])
    assert "expected an S-VAE" in capsys.readouterr().err
