# SPDX-License-Identifier: MIT
"""The model of a run, to be used: encode, decode, sample, score."""

import os
from typing import Any

import torch
from torch import nn

from svmf.errors import RunError, one_line
from svmf.training.checked import Part, weights_like
from svmf.training.checkpoint import best_model, load_best
from svmf.training.config import RunConfig
from svmf.training.environment import run_environment
from svmf.training.run import make_task
from svmf.training.run_folder import RunFolder
from svmf.training.task import Task
from svmf.training.vae_model import build_semi_supervised, build_vae, likelihood_names


def load_model(
    run: str | os.PathLike[str], model: nn.Module | None = None, device: str | torch.device = "cpu"
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
    if not (model is None or isinstance(model, nn.Module)):
        raise RunError(f"load_model: expected `model` to be a module, got {type(model).__name__}")
    folder = RunFolder(run)
    config = folder.read_config()
    if config.spec.kind == "graph" and model is None:
        with run_environment(config) as processes:
            return _placed(trained(make_task(config, processes), folder), device)
    made, _ = best_model(
        folder, config, lambda state: _built(config, state) if model is None else model
    )
    return _placed(_finished(made, config, folder), device)


def _placed(model: nn.Module, device: str | torch.device) -> nn.Module:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError, TypeError) as error:
        why = one_line((str(error).splitlines() or [""])[0], 200)
        raise RunError(f"load_model: cannot use device {str(device)[:40]!r}: {why}") from error


def trained(task: Task, folder: RunFolder) -> nn.Module:
    """The task's model with the run's best weights."""
    load_best(task, folder)
    return _finished(task.model, task.config, folder)


def _finished(model: nn.Module, config: RunConfig, folder: RunFolder) -> nn.Module:
    setattr(model, "config", config)  # noqa: B010  (not every model declares it)
    setattr(model, "history", folder.read_metrics())  # noqa: B010
    return model.eval()


def _built(config: RunConfig, state: Part) -> nn.Module:
    """The model without its data: sizes are those of the stored weights. A stranger's configuration
    gets no memory before the weights fit it."""
    with torch.device("meta"):
        weights_like(_of_sizes(config, state), state["model"])
    return _of_sizes(config, state)


def _of_sizes(config: RunConfig, state: Part) -> nn.Module:
    if config.spec.kind == "vae":
        shape, likelihood = _rows_of(config, state)
        return build_vae(config, shape, likelihood)
    inputs, classes = _size(state, "encoder1.0.weight", 1), _size(state, "classifier.2.weight", 0)
    return build_semi_supervised(config, inputs, classes)


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
