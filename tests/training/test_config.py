# SPDX-License-Identifier: MIT
"""The configuration: one field per option gives command line, checks and JSON reader."""

import dataclasses
import json
import math
from dataclasses import dataclass

import numpy
import pytest
from helpers.commands import python

from svmf.cli import main
from svmf.errors import ConfigError
from svmf.training.config import MODELS, RunConfig, config_from_json, config_options, make_config
from svmf.training.options import option, options_of


@pytest.mark.parametrize("model", MODELS)
def test_configuration_survives_its_file(model):
    config = make_config(model, hidden=(3, 4), clip=1.5, data_root="/data")
    assert config_from_json(config.to_json(), "here") == config


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("svae", {"dim": 0}, "--dim: expected a latent dimension of at least 1, got 0"),
        ("svae", {"dim": 10**7}, "--dim"),
        ("svae", {"lr": 0.0}, "--lr"),
        ("svae", {"lr": math.nan}, "--lr"),
        ("svae", {"batch_size": 0}, "--batch-size"),
        ("svae", {"epochs": 0}, "--epochs"),
        ("svae", {"gradient": "wrong"}, "--gradient"),
        ("nvae", {"gradient": "corrected"}, "needs a von Mises-Fisher latent"),
        ("svae", {"beta": -1.0}, "--beta"),
        ("svae", {"hidden": (0,)}, "--hidden"),
        ("svae", {"threads": 0}, "--threads"),
        ("svae", {"seed": -1}, "--seed"),
        ("svae", {"clip": 0.0}, "--clip"),
        ("svgae", {"dropout": 1.0}, "--dropout"),
        ("m1m2-sn", {"dim2": 0}, "--dim2"),
        ("m1m2-sn", {"labels": 0}, "--labels"),
        ("m1m2-sn", {"label_tolerance": 1.0}, "--label-tolerance"),
        ("svae", {"validation_rows": 0}, "--validation-rows"),
        ("svgae", {"validation_rows": 5}, "only image sets"),
        ("vae", {}, "unknown model 'vae'"),
        ("svae", {"beta": math.inf}, "--beta: expected a finite number"),
        ("svae", {"beta": 1e300}, "--beta: expected at most"),
        ("svae", {"threads": 10**6}, "--threads: expected at most 1024"),
        ("svae", {"hidden": (10**12,)}, "--hidden: expected widths of at most 1000000"),
        ("svae", {"hidden": ()}, "--hidden"),
        ("svgae", {"split_seed": -1}, "--split-seed: expected at least 0, got -1"),
        ("svgae", {"kl_weight": math.nan}, "--kl-weight"),
        ("svae", {"seed": 2**63}, "--seed: expected at most 9223372036854775807"),
        ("svae", {"dim": "3"}, "option 'dim' must be int, got '3'"),
        ("svae", {"dim": True}, "option 'dim' must be int, got True"),
        ("svae", {"lr": 10**400}, "option 'lr' must be a number within the range of float64"),
    ],
)
def test_impossible_configurations(model, options, message):
    with pytest.raises(ConfigError, match=message):
        make_config(model, **options)


def test_paper_defaults():
    svae = make_config("svae")
    assert (svae.batch_size, svae.lr, svae.warm_up, svae.look_ahead) == (64, 1e-3, 100, 50)
    semi = make_config("m1m2-sn")
    assert (semi.batch_size, semi.lr, semi.look_ahead, semi.labels) == (100, 1e-3, 50, 100)
    assert make_config("svgae").epochs == 200
    assert make_config("svgae", data="pubmed").epochs == 400
    assert make_config("svgae", data="pubmed", epochs=3).epochs == 3


@dataclass(frozen=True)
class Strange:
    what: dict[str, int] = option(None, "of a type that nobody reads", "group")  # noqa: RUF009


@dataclass(frozen=True)
class Unsaid:
    what: int | None = option(None, "None without a meaning", "group")


@pytest.mark.parametrize("record", [Strange, Unsaid])
def test_a_forgotten_type_or_meaning_is_an_error(record):
    with pytest.raises(TypeError, match="what"):
        options_of(record)


def test_every_field_is_an_option():
    """With help, and a range wherever it is a number: nothing is left to a default."""
    names = {field.name for field in dataclasses.fields(RunConfig)}
    assert set(config_options()) == names - {"model"}
    for item in config_options().values():
        assert item.said.help
        assert item.said.group
        assert item.said.range is not None or item.type in (str, bool), item.name


def test_the_command_line_has_every_option_with_its_default(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name, item in config_options().items():
        assert f" {item.flag} " in text, name
    assert "(default 10; M1+M2: 50; graphs: 32)" in text
    assert "(default 0; nvae, svae, " in text
    assert text.count("(default ") >= len(config_options())
    for name, spec in MODELS.items():
        assert f"{name} ({spec.help})" in text


def test_defaults_of_models_are_options():
    for spec in MODELS.values():
        assert set(spec.defaults) <= set(config_options())


def test_files_of_earlier_versions_stay_readable():
    """Options that a file does not name have their defaults; numbers may be written as integers."""
    config = config_from_json('{"model": "svae", "lr": 1, "hidden": [3], "clip": 2}', "here")
    assert (config.lr, config.hidden, config.clip, config.dim) == (1, (3,), 2, 10)


def test_values_of_other_libraries_become_plain():
    config = make_config("svae", dim=numpy.int64(3), lr=numpy.float32(0.5), hidden=[numpy.int32(4)])
    assert (config.dim, config.lr, config.hidden) == (3, 0.5, (4,))
    assert json.loads(config.to_json())["hidden"] == [4]


@pytest.mark.parametrize("module", ["svmf.training.config", "svmf.cli.train", "svmf.cli.evaluate"])
def test_needs_no_torch(module):
    program = (
        f"import importlib, sys; importlib.import_module({module!r}); "
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    python("-c", program)
