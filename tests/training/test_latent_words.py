# SPDX-License-Identifier: MIT
"""`--latent s10x4+n5`: words, configurations, and runs of every kind of model."""

import pytest
import torch

import svmf
from svmf.errors import ConfigError
from svmf.models import ProductLatent
from svmf.training import continue_run, evaluate_run, make_config, start_run
from svmf.training.config import config_from_json
from svmf.training.latent_words import parse_latent


def test_words():
    four = [("spherical", 10)] * 4
    assert parse_latent("s10x4") == four
    assert parse_latent("s10x4+n5") == [*four, ("gaussian", 5)]
    assert parse_latent("c4+c2") == [("spherical-cauchy", 4), ("spherical-cauchy", 2)]
    assert parse_latent("p3+n1x2") == [("power-spherical", 3), ("gaussian", 1), ("gaussian", 1)]

    assert parse_latent("f2") == [("flow", 2)]


@pytest.mark.parametrize(
    "words",
    ["", "s", "10", "s0", "s10x0", "t5", "s10x4+", "s10 x4", "s1x9999+s1x9999", "S10", "s-1"],
)
def test_wrong_words(words):
    with pytest.raises(ConfigError, match="--latent: expected"):
        make_config("svae", latent=words)


def test_the_dimension_is_the_sum():
    config = make_config("svae", latent="s10x4+n5")
    assert config.dim == 45
    assert config_from_json(config.to_json(), "here") == config
    assert make_config("svgae", latent="s2x2").dim == 4
    with pytest.raises(ConfigError, match="--latent s10x4: has d = 40, but --dim 3"):
        make_config("svae", latent="s10x4", dim=3)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("ae", {"latent": "n2"}, "an auto-encoder has no posterior"),
        ("svae", {"latent": "n2", "gradient": "corrected"}, "needs a von Mises-Fisher latent"),
        ("nvae", {"radius": "sqrt"}, "--radius sqrt: model 'nvae' has no sphere"),
        ("svgae", {"radius": "sqrt"}, "--radius: graphs have --multiplier"),
        ("svae", {"radius": "7"}, "--radius: expected one of 1, sqrt, learnable"),
    ],
)
def test_what_does_not_go_together(model, options, message):
    with pytest.raises(ConfigError, match=message):
        make_config(model, **options)


@pytest.mark.parametrize("model", ["svae", "m1m2-sn", "svgae"])
def test_every_kind_of_model_trains_continues_and_evaluates(model, options, tmp_path):
    more = {"latent": "s2x2+n1", "dim": None}
    more |= {"radius": "learnable"} if model != "svgae" else {}
    config = make_config(model, **options(model, **more))
    assert config.dim == 5
    start_run(config, tmp_path / "run")
    assert continue_run(tmp_path / "run", {"epochs": 3}).epoch == 3
    figures = evaluate_run(tmp_path / "run", samples=3, label_draws=2)
    assert figures["dim"] == 5
    loaded = svmf.load_model(tmp_path / "run")
    latent = loaded.latent1 if model == "m1m2-sn" else loaded.latent
    assert isinstance(latent, ProductLatent)
    if model == "m1m2-sn":
        assert loaded.radius1.log_radius.shape == (3,)
        assert isinstance(loaded.radius2, torch.nn.Identity), "z2 has no sphere"
    if model == "svae":
        assert loaded.radius.log_radius[2].item() == 0, "a flat factor keeps its scale"
        assert loaded.sample(2).shape == (2, 16)
        with torch.no_grad():
            assert loaded.encode(torch.rand(3, 16)).shape == (3, 7)
