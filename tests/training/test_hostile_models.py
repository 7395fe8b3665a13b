# SPDX-License-Identifier: MIT
"""load_model on folders from strangers: memory and time follow the file, not what it claims."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from reliability.tiny_run import tiny_config, write_images

import svmf
from svmf.errors import UserError
from svmf.models import VAE
from svmf.training import start_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is done."""
    folder = tmp_path_factory.mktemp("hostile")
    start_run(tiny_config(write_images(folder / "images"), 1), folder / "run")
    return folder / "run"


def claiming(run: Path, folder: Path, **options: Any) -> Path:
    """A copy whose configuration says something else, in both of its places."""
    shutil.copytree(run, folder)
    config = {**json.loads((folder / "config.json").read_text()), **options}
    (folder / "config.json").write_text(json.dumps(config))
    state = torch.load(folder / "checkpoint.pt", weights_only=True)
    state["config"] = config
    torch.save(state, folder / "checkpoint.pt")
    return folder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": [20_000, 20_000]}, "does not fit this run: model"),
        ({"hidden": [1_000_000, 1_000_000]}, "does not fit this run: model"),
        ({"hidden": [1] * 2000}, "--hidden: expected at most 1000 widths"),
        ({"dim": 100_000}, "does not fit this run"),
        ({"latent": "s9" * 1000}, "--latent: expected factors"),
        ({"x" * 100_000: 1}, "unknown option"),
        ({"model": "x" * 100_000}, "unknown model"),
    ],
)
def test_no_memory_is_taken_for_a_claim(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, message: str
) -> None:
    made = []
    reset = torch.nn.Linear.reset_parameters

    def counted(layer: torch.nn.Linear) -> None:
        if not layer.weight.is_meta:
            made.append(layer.weight.numel())
        reset(layer)

    folder = claiming(finished, tmp_path / "run", **options)
    monkeypatch.setattr(torch.nn.Linear, "reset_parameters", counted)
    with pytest.raises(UserError, match=message) as caught:
        svmf.load_model(folder)
    assert made == []
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "svae"}, "expected `model` to be a module, got str"),
        ({"device": "nonsense"}, "cannot use device 'nonsense'"),
        ({"model": torch.nn.Linear(2, 2)}, "does not fit this run"),
    ],
)
def test_mistakes_are_named(finished: Path, arguments: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        svmf.load_model(finished, **arguments)
    assert "\n" not in str(caught.value)


def test_an_honest_run_is_loaded(finished: Path) -> None:
    model = svmf.load_model(finished)
    assert isinstance(model, VAE)
    assert not any(parameter.is_meta for parameter in model.parameters())
    assert model.sample(3).shape == (3, 16)
