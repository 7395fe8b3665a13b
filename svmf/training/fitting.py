# SPDX-License-Identifier: MIT
"""Training on rows that are in memory: one call from an array to a trained model."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from svmf.errors import ConfigError
from svmf.models import LATENTS, VAE
from svmf.progress import ProgressLine
from svmf.training.config import MODELS, RunConfig, make_config
from svmf.training.processes import Processes
from svmf.training.run import seeded, train_in
from svmf.training.run_folder import RunFolder
from svmf.training.task import Task
from svmf.training.trained_model import trained
from svmf.training.vae_task import VAETask


def fit(
    model: str | VAE,
    data: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = True,
    checkpoint_seconds: float = 20.0,
    **options: Any,
) -> VAE:
    """Trains a model on `data` and returns it with the weights of its best epoch, in evaluation
    mode. `data` are rows of a tensor, an array or a table, or what `svmf train --data` takes: a
    file, a folder of images, the name of a data set.

    `model` is a name of `svmf train` ("ae", "nvae", "svae", "psvae", "scvae"), or a `VAE` of one's
    own, which is trained in place. `options` are those of `svmf train`: `dim`, `epochs`, `warm_up`,
    `likelihood`, `lr`, `seed` and so on. Grey, binary, real and unit-vector rows choose the
    likelihood of a named model. A tenth of the rows validates, a tenth is held out.

    `out` keeps the run's folder, for `svmf.load_model`. The result has the configuration in
    `.config` and the metrics of each epoch in `.history`.
    """
    own = None if isinstance(model, str) else model
    named = isinstance(data, str | os.PathLike)
    config = _config(model, os.fspath(data) if named else "array", options)
    values = None if named else data

    made: list[Task] = []

    def make(config: RunConfig, processes: Processes) -> Task:
        made.append(seeded(config, lambda: VAETask(config, processes, values=values, model=own)))
        return made[0]

    with _folder(out) as folder:
        line = ProgressLine(enabled=progress)
        outcome = train_in(folder, config, True, line, checkpoint_seconds, make=make)
        if outcome.interrupted_by:
            raise KeyboardInterrupt
        result = trained(made[0], folder)
    assert isinstance(result, VAE)
    return result


def _config(model: str | VAE, data: str, options: dict[str, Any]) -> RunConfig:
    names = [name for name, spec in MODELS.items() if spec.kind == "vae"]
    if not (isinstance(model, VAE) or (isinstance(model, str) and model in names)):
        got = repr(model) if isinstance(model, str) else type(model).__name__
        raise ConfigError(f"fit: expected `model` among {', '.join(names)} or a VAE, got {got}")
    if isinstance(model, str):
        return make_config(model, data=data, **options)
    latent = model.latent
    given = {"dim": latent.dim, "gradient": latent.gradient, **options}
    same = [name for name in names if LATENTS[MODELS[name].latents[0]] is type(latent)]
    return make_config(same[0] if same else "svae", data=data, **given)


@contextlib.contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[RunFolder]:
    if out is not None:
        yield RunFolder(out)
        return
    with tempfile.TemporaryDirectory(prefix="svmf-fit-") as folder:
        yield RunFolder(Path(folder) / "run")
