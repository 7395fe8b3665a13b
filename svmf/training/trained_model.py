# SPDX-License-Identifier: MIT
"""The model of a run, to be used: encode, decode, sample, score."""

import os
from typing import Any

import torch
from torch import nn

from svmf.errors import RunError
from svmf.models import Bernoulli, SemiSupervisedVAE
from svmf.training.checked import Part, weights_like
from svmf.training.checkpoint import load_best, misfits_named, stored_state
from svmf.training.config import RunConfig
from svmf.training.environment import RunEnvironment
from svmf.training.run import make_task
from svmf.training.run_folder import RunFolder
from svmf.training.task import Task, make_latent
from svmf.training.vae_model import build_vae, likelihood_names


def load_model(
    run: str | os.PathLike[str],
    model: nn.Module | None = None,
    device: str | torch.device = "cpu",
) -> nn.Module:
    """The model of a run folder with the weights of its best epoch, in evaluation mode.

    It is a `VAE`, a `SemiSupervisedVAE` or a `GraphVAE`, with the run's configuration in `.config`
    and the metrics of each epoch in `.history`. Only a graph needs its data again. `model` is for
    runs of `fit` with a model of one's own: the weights are put into it.

    >>> import svmf
    >>> model = svmf.load_model("runs/svae-digits-d10-seed0")  # doctest: +SKIP
    >>> model.sample(5).shape  # doctest: +SKIP
    torch.Size([5, 64])
    """
    folder = RunFolder(run)
    config = folder.read_config()
    if config.spec.kind == "graph" and model is None:
        with RunEnvironment(config) as processes:
            return trained(make_task(config, processes), folder).to(device)
    state = stored_state(folder, config)
    if state is None:
        raise RunError(f"{folder.path}: no checkpoint yet")
    with misfits_named(folder):
        model = _built(config, state) if model is None else model
        epoch = state["epoch"].integer(1)
        best_epoch = state["stopping"]["best_epoch"].integer(0, epoch - 1)
        weights = weights_like(model, state["best" if best_epoch else "model"])
    model.load_state_dict(weights)
    return _finished(model, config, folder).to(device)


def trained(task: Task, folder: RunFolder) -> nn.Module:
    """The task's model with the run's best weights."""
    load_best(task, folder)
    return _finished(task.model, task.config, folder)


def _finished(model: nn.Module, config: RunConfig, folder: RunFolder) -> nn.Module:
    setattr(model, "config", config)  # noqa: B010  (not every model declares it)
    setattr(model, "history", folder.read_metrics())  # noqa: B010
    return model.eval()


def _built(config: RunConfig, state: Part) -> nn.Module:
    """The model without its data: sizes are those of the stored weights, which are checked against
    it afterwards."""
    if config.spec.kind == "vae":
        shape, likelihood = _rows_of(config, state)
        return build_vae(config, make_latent(config), shape, likelihood)
    return SemiSupervisedVAE(
        _size(state, "encoder1.0.weight", 1),
        _size(state, "classifier.2.weight", 0),
        make_latent(config, 0),
        make_latent(config, 1, config.dim2),
        Bernoulli(),
        hidden=(config.hidden or (500,))[0],
        alpha=config.alpha,
        label_tolerance=config.label_tolerance,
        radius=config.radius,
    )


def _rows_of(config: RunConfig, state: Part) -> tuple[tuple[int, ...], str]:
    width = _size(state, "encoder.0.weight", 1)
    about: Any = state.value.get("about")
    if about is None:  # of an earlier version
        return (width,), "gaussian 1" if config.data == "circle" else "bernoulli"
    likelihood = state["about"]["likelihood"]
    if likelihood.value not in likelihood_names():
        raise likelihood.misfit(f"one of {', '.join(likelihood_names())}")
    shape = state["about"]["shape"]
    if not isinstance(shape.value, list) or not 1 <= len(shape.value) <= 8:
        raise shape.misfit("a list of sizes")
    sizes = tuple(entry.integer(1, width) for entry in shape.items(len(shape.value)))
    if torch.Size(sizes).numel() != width:
        raise shape.misfit(f"the shape of {width} values")
    return sizes, likelihood.value


def _size(state: Part, name: str, axis: int) -> int:
    weight = state["model"][name]
    if not isinstance(weight.value, torch.Tensor) or weight.value.dim() != 2:
        raise weight.misfit("a matrix")
    return int(weight.value.shape[axis])
