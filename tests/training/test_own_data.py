# SPDX-License-Identifier: MIT
"""One's own rows, networks and loop: `fit`, `load_model`, `svmf train --data FILE`."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import svmf
from svmf.cli import main
from svmf.errors import ConfigError, DataError, RunError
from svmf.models import VAE, Bernoulli, Directional, Gaussian, GaussianLatent, SphericalLatent
from svmf.training import evaluate_run, fit, load_model

QUICK = {"epochs": 3, "warm_up": 0, "hidden": (16,), "batch_size": 20, "progress": False}


def rows(kind: str, count: int = 200) -> torch.Tensor:
    draw = torch.Generator().manual_seed(0)
    angle = 2 * math.pi * torch.rand(count, generator=draw)
    base = torch.stack([angle.cos(), angle.sin(), (2 * angle).cos(), (3 * angle).sin()], 1)
    if kind == "real":
        return 3 + 2 * base
    if kind == "unit":
        return torch.nn.functional.normalize(base, dim=1)
    if kind == "binary":
        return (base > 0).float()
    return (base.abs() * 200).byte().reshape(count, 2, 2)


@pytest.mark.parametrize(
    ("kind", "likelihood"),
    [("real", Gaussian), ("unit", Directional), ("binary", Bernoulli), ("grey", Bernoulli)],
)
def test_the_rows_choose_the_likelihood(kind, likelihood):
    model = fit("svae", rows(kind), dim=2, **QUICK)
    assert isinstance(model.likelihood, likelihood)
    assert not model.training
    assert (model.config.model, model.config.dim) == ("svae", 2)
    assert [record["epoch"] for record in model.history] == [1, 2, 3]
    shape = tuple(rows(kind).shape[1:])
    assert model.sample(5).shape == (5, *shape)
    assert model.encode(rows(kind).float()).shape == (200, 3)
    assert isinstance(model.q(rows(kind).float()), svmf.VonMisesFisher)


def test_arrays_and_the_option(tmp_path):
    array = rows("unit").double().numpy()
    assert isinstance(fit("nvae", array, dim=2, **QUICK).likelihood, Directional)
    told = fit("nvae", array, dim=2, likelihood="gaussian", **QUICK)
    assert isinstance(told.likelihood, Gaussian)
    with pytest.raises(DataError, match="expected unit vectors, got a row of norm"):
        fit("nvae", 3 * array, dim=2, likelihood="vmf", **QUICK)
    with pytest.raises(DataError, match="--likelihood bernoulli"):
        fit("nvae", 3 * array, dim=2, likelihood="bernoulli", **QUICK)


def test_training_learns_the_rows():
    options = {**QUICK, "epochs": 60, "hidden": (64,), "lr": 5e-3}
    real = fit("nvae", rows("real", 400), dim=2, **options)
    assert math.exp(real.likelihood.log_scale.item()) != 1, "the width is learned"
    assert real.history[-1]["validation"]["elbo"] > real.history[0]["validation"]["elbo"] + 2
    unit = fit("svae", rows("unit", 400), dim=2, **options)
    assert math.exp(unit.likelihood.log_concentration.item()) > 8, "it began at 4"
    assert unit.history[-1]["validation"]["elbo"] > unit.history[0]["validation"]["elbo"] + 1


class Convolutions(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64, outputs)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def conv_vae(latent) -> VAE:
    decoder = nn.Sequential(
        nn.Linear(latent.coordinates, 64), nn.Unflatten(1, (4, 4, 4)), nn.Conv2d(4, 1, 3, padding=1)
    )
    return VAE(encoder=Convolutions(sum(latent.head_sizes)), decoder=decoder, latent=latent)


def test_modules_of_ones_own_keep_the_shape_of_images(tmp_path):
    torch.manual_seed(0)
    images = (torch.rand(120, 1, 4, 4) < 0.4).float()
    model = conv_vae(SphericalLatent(3))
    loss, terms = model(images)  # beta is 1 unless it is given
    loss.backward()
    assert terms.shape == (3,)
    assert model.decode(model.encode(images)).shape == images.shape
    assert model.q(images).rsample().shape == (120, 4)
    values = svmf.models.log_likelihood(model, images[:10], samples=20)
    assert bool((values > model.elbo_terms(images[:10])[0].sum() * 0 - 50).all())
    assert fit(model, images, out=tmp_path / "run", **{**QUICK, "hidden": None}) is model
    assert model.sample(2).shape == (2, 1, 4, 4)
    again = load_model(tmp_path / "run", model=conv_vae(SphericalLatent(3)))
    assert torch.equal(again.encode(images), model.encode(images))
    with pytest.raises(RunError, match="does not fit this run"):
        load_model(tmp_path / "run", model=conv_vae(SphericalLatent(4)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VAE(4), "expected a `latent`"),
        (lambda: VAE(latent=GaussianLatent(2)), "either `inputs`, or both"),
        (lambda: VAE(4, GaussianLatent(2), encoder=nn.Linear(4, 4)), "either `inputs`, or both"),
        (
            lambda: VAE(
                latent=SphericalLatent(2), encoder=nn.Linear(4, 9), decoder=nn.Linear(3, 4)
            )(torch.zeros(1, 4)),
            "expected an encoder with 4 outputs for SphericalLatent, got 9",
        ),
    ],
)
def test_mistakes_with_own_modules(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_posteriors_are_distributions():
    x = torch.rand(5, 4)
    spherical = VAE(4, SphericalLatent(2), Bernoulli())
    q = spherical.q(x)
    assert isinstance(q, svmf.VonMisesFisher)
    assert (q.batch_shape, q.event_shape) == ((5,), (3,))
    normal = VAE(4, GaussianLatent(2), Bernoulli()).q(x)
    assert (normal.batch_shape, normal.event_shape) == ((5,), (2,))
    z = q.sample()
    torch.testing.assert_close(q.log_prob(z), spherical.latent.log_prob(spherical.posterior(x), z))


def test_few_rows_are_one_batch():
    options = {name: value for name, value in QUICK.items() if name != "batch_size"}
    assert len(fit("svae", rows("unit", 30), dim=2, **options).history) == 3
    with pytest.raises(ConfigError, match="--batch-size: expected at most the 24 training rows"):
        fit("svae", rows("unit", 30), dim=2, batch_size=25, **options)


def test_fit_takes_what_the_command_takes(tmp_path):
    path = tmp_path / "mine.npy"
    np.save(path, rows("unit").numpy())
    model = fit("svae", path, dim=2, **QUICK)
    assert isinstance(model.likelihood, Directional)
    assert model.config.data == str(path)
    with pytest.raises(DataError, match="no image set 'nope': expected one of"):
        fit("svae", "nope", **QUICK)


def test_an_unknown_option_is_named():
    with pytest.raises(ConfigError, match="got 'epohcs': did you mean 'epochs'"):
        fit("svae", rows("unit"), epohcs=3)
    with pytest.raises(ConfigError, match="got 'zzz': data, data_root,"):
        fit("svae", rows("unit"), zzz=3)


@pytest.mark.parametrize("name", ["svgae", "m1m2-ss", "vae", 3])
def test_what_cannot_be_fitted(name):
    with pytest.raises(ConfigError, match="expected `model` among ae, nvae, svae, psvae"):
        fit(name, rows("real"))


def test_fit_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    fit("ae", rows("real"), dim=2, **QUICK)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["npy", "npz", "csv"])
def test_command_line_on_a_file(ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = rows("unit").numpy()
    if ending == "csv":
        np.savetxt("points.csv", values, delimiter=",", header="a,b,c,d", comments="")
    else:
        (np.save if ending == "npy" else np.savez)(f"points.{ending}", values)
    arguments = ["--epochs", "2", "--dim", "2", "--hidden", "8", "--warm-up", "0", "--quiet"]
    assert main(["train", "svae", "--data", f"points.{ending}", *arguments]) == 0
    run = f"runs/svae-points.{ending}-d2-seed0"
    assert f"run folder {run}" in capsys.readouterr().out
    model = svmf.load_model(run)
    assert isinstance(model.likelihood, Directional)
    assert model.sample(3).shape == (3, 4)
    figures = evaluate_run(run, samples=5)
    assert math.isfinite(figures["ll"])
    assert "knn" not in figures


def test_models_without_their_data(options, tmp_path):
    """A VAE and M1+M2 need only the folder."""
    from svmf.training import make_config, start_run

    for name in ("svae", "nvae", "ae", "m1m2-sn"):
        start_run(make_config(name, **options(name)), tmp_path / name)
        config = tmp_path / name / "config.json"
        config.write_text(config.read_text().replace(options(name)["data"], "/gone"))
        model = load_model(tmp_path / name)
        assert model.config.model == name
        assert not model.training
        assert len(model.history) == 2
    assert load_model(tmp_path / "m1m2-sn").classify(torch.rand(3, 16)).shape == (3,)


def test_graphs_need_their_data(options, tmp_path):
    from svmf.training import make_config, start_run

    start_run(make_config("svgae", **options("svgae")), tmp_path / "run")
    model = load_model(tmp_path / "run")
    assert model.score(torch.tensor([[0], [1]])).shape == (1,)


def test_runs_of_earlier_versions_have_no_word_about_their_rows(options, tmp_path):
    from svmf.training import make_config, start_run

    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    del state["about"]
    torch.save(state, path)
    assert load_model(tmp_path / "run").sample(2).shape == (2, 16)
    for about in ({}, {"shape": [4], "likelihood": "bernoulli"}, {"shape": [16], "likelihood": 3}):
        torch.save({**state, "about": about}, path)
        with pytest.raises(RunError, match="does not fit this run: about"):
            load_model(tmp_path / "run")
