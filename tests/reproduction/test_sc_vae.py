# SPDX-License-Identifier: MIT
"""The protocol of SC-VAE: its networks and heads by their stated sizes and formulas, its loss, runs
that are continued, its tables."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from benchmarks import published_formulas
from reproduction import sc_vae
from reproduction.__main__ import main
from reproduction.record import Workspace
from reproduction.sc_vae import Run
from reproduction.sc_vae_model import FAMILIES, build
from reproduction.sc_vae_paper import FIRST_EPOCHS, PUBLISHED
from svmf import functional
from svmf.distributions import SphericalCauchy, VonMisesFisher


def test_the_plan():
    jobs = sc_vae.jobs(Workspace(Path("r"), Path("w")), 5)
    keys = [job.key for job in jobs]
    assert len(keys) == len(set(keys)) == 5 * 5 * len(FAMILIES)
    assert {"vmf-d20-seed4", "vmf-head-d2-seed0", "cauchy-d10-seed1"} <= set(keys)
    assert [sc_vae.rate_of(dim) for dim in sc_vae.DIMS] == [3e-4, 3e-4, 1e-4, 1e-4, 1e-4]
    assert [sc_vae.warm_up_of(dim) for dim in sc_vae.DIMS] == [200, 200, 0, 0, 0]


@pytest.mark.parametrize("key", FAMILIES)
def test_the_networks_have_the_stated_sizes(key):
    model = build(FAMILIES[key], 10, 28)
    m = model.latent.coordinates
    sizes = {"conv": [1 * 32 * 16, 32 * 64 * 16, 64 * 128 * 16], "bias": [32, 64, 128]}
    encoder = sum(sizes["conv"]) + sum(sizes["bias"]) + 1152 * 128 + 128
    encoder += 129 * (20 if key == "n" else 12)
    decoder = 128 * (m + 1) + 129 * 6272 + 128 * 64 * 9 + 64 + 64 * 32 * 9 + 32 + 32 * 9 + 1
    counts = [sum(p.numel() for p in part.parameters()) for part in (model.encoder, model.decoder)]
    assert counts == [encoder, decoder]
    assert model.decode(model.latent.prior_sample(3)).shape == (3, 1, 28, 28)


def test_where_training_starts():
    """softplus(2) + 1, softplus(0), sigmoid(2), and the curvature of that."""
    raw = torch.zeros(1, 7)
    starts = {}
    for key in ("vmf", "ps", "cauchy", "vmf-head"):
        bias = build(FAMILIES[key], 5, 8).encoder[-1].bias
        raw[0, -1] = bias[-1].detach()
        starts[key] = build(FAMILIES[key], 5, 8).latent.posterior(raw).concentration.item()
    rho = torch.sigmoid(torch.tensor(2.0)).item()
    expected = {"vmf": 3.126928, "ps": 0.6931472, "cauchy": rho}
    expected["vmf-head"] = 10 * rho / (1 - rho) ** 2
    assert starts == pytest.approx(expected, rel=1e-5)


def test_both_heads_have_one_curvature_at_the_mode():
    """Second difference of the log densities in the angle, in float64."""
    raw = torch.randn(4, 7, dtype=torch.float64)
    angles = torch.tensor([-1e-4, 0.0, 1e-4], dtype=torch.float64)
    curvatures = []
    for key, family in (("cauchy", SphericalCauchy), ("vmf-head", VonMisesFisher)):
        loc, spread = FAMILIES[key].latent(5).posterior(raw)
        across = torch.zeros_like(loc)
        across[:, 0] = 1
        across = F.normalize(across - (across * loc).sum(-1, keepdim=True) * loc, dim=-1)
        points = angles.cos()[:, None, None] * loc + angles.sin()[:, None, None] * across
        low, mode, high = family(loc, spread).log_prob(points)
        curvatures.append((2 * mode - low - high) / 1e-8)
    torch.testing.assert_close(*curvatures, rtol=1e-5, atol=0)


@pytest.mark.parametrize("key", FAMILIES)
def test_the_loss_is_cross_entropy_of_grey_pixels_and_kl(key):
    model = build(FAMILIES[key], 3, 8)
    x = torch.rand(5, 1, 8, 8)
    torch.manual_seed(1)
    loss, _ = model(x)
    torch.manual_seed(1)
    z, kl, _ = model.latent.draw(model.posterior(x))
    entropy = F.binary_cross_entropy(model.decode(z), x, reduction="sum") / 5
    torch.testing.assert_close(loss, entropy + kl.mean())


def test_a_continued_run_has_the_same_bits(tmp_path):
    whole = Run(tmp_path / "whole", "digits", "vmf", 2, 0)
    whole.epoch()
    whole.epoch()
    Run(tmp_path / "parts", "digits", "vmf", 2, 0).epoch()
    parts = Run(tmp_path / "parts", "digits", "vmf", 2, 0)
    assert len(parts.history) == 1
    parts.epoch()
    assert parts.history == whole.history
    assert Run(tmp_path / "other", "digits", "vmf", 2, 1).history == []


def test_the_rate_warms_up_in_two_dimensions(tmp_path):
    run = Run(tmp_path, "digits", "n", 2, 0)
    steps = -(-len(run.train) // sc_vae.BATCH)
    run.epoch()
    assert run.adam.param_groups[0]["lr"] == pytest.approx(3e-4 * steps / 200)
    flat = Run(tmp_path / "flat", "digits", "n", 5, 0)
    flat.epoch()
    assert flat.adam.param_groups[0]["lr"] == 1e-4


def write(folder, key, dim, seed, losses):
    history = [{"reconstruction": re, "kl": 20.0, "spread": 0.9} for re in losses]
    best = losses.index(min(losses)) + 1
    result = {"family": key, "dim": dim, "epochs": len(losses), "best_epoch": best}
    result["history"] = history
    (folder / "sc-vae").mkdir(parents=True, exist_ok=True)
    (folder / "sc-vae" / f"{key}-d{dim}-seed{seed}.json").write_text(json.dumps(result))


def test_whole_runs_and_cut_ones_have_tables_of_their_own(tmp_path):
    workspace = Workspace(tmp_path, tmp_path)
    text = sc_vae.render(workspace).read_text()
    assert "| 20 | vMF | – | 97.25 ± 45.06 | – | 118.82 ± 34.04 |" in text
    assert "fewer epochs" not in text
    for seed in range(2):
        write(tmp_path, "vmf", 10, seed, [100.0] * 38 + [80.0 + seed, 81.0])
    write(tmp_path, "cauchy", 10, 0, [199.0, 130.0])
    text = sc_vae.render(workspace).read_text()
    assert "| 10 | vMF | 80.50 ± 0.71 (2) | 83.38 ± 0.36 | 100.50 ± 0.71 (2) |" in text
    row = "| 10 | spherical Cauchy | 2 | 130.00 (1) | 132.05 ± 11.20 (3) | 150.00 (1) |"
    assert row in text, "the published figures after two epochs"


def test_published_figures_hang_together():
    assert set(PUBLISHED) == {(d, k) for d in sc_vae.DIMS for k in FAMILIES if k != "vmf-head"}
    assert all(re[0] < total[0] for re, total in PUBLISHED.values())
    for epochs in FIRST_EPOCHS.values():
        assert all(len(runs) == 3 and re < total for runs in epochs for re, total in runs)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["sc-vae", "--quick", "--dims", "2", "--only", "cauchy-*"]
    assert main(options) == 0
    (path,) = (tmp_path / "results-quick" / "sc-vae").iterdir()
    result = json.loads(path.read_text())
    assert (result["epochs"], result["best_epoch"], result["data"]) == (1, 1, "digits")
    assert "--only cauchy-d2-seed0" in result["command"]
    capsys.readouterr()
    assert main(options) == 0
    assert "running" not in capsys.readouterr().out


@pytest.mark.parametrize(("kappa", "short"), [(3.13, 0.040), (477.0, 0.003)])
def test_how_far_the_published_gradient_is_off(kappa, short):
    """On S^10, in shares of the slope of E[w]; within five standard errors (false alarm 6e-7)."""
    loc = torch.zeros(100_000, 11, dtype=torch.float64)
    loc[:, 0] = -1
    scale = torch.full((len(loc), 1), kappa, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    w = -published_formulas.rsample(loc, scale)[:, 0]
    (slopes,) = torch.autograd.grad(w.sum(), scale)
    exact = torch.tensor(kappa, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(functional.vmf_mean_length(exact, 11), exact)
    shares = slopes / slope
    error = float(shares.std()) / len(loc) ** 0.5
    assert abs(float(shares.mean()) - (1 - short)) < 5 * error + 5e-4  # as printed
