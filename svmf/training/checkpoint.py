# SPDX-License-Identifier: MIT
"""From a run's checkpoint to its model: what both the trainer and an evaluation read, checked."""

import contextlib
from collections.abc import Callable, Iterator

from torch import nn

from svmf.errors import ConfigError, RunError
from svmf.training.checked import MisfitError, Part, weights_like
from svmf.training.config import RunConfig, config_from_dict, fixed_options
from svmf.training.run_folder import RunFolder
from svmf.training.task import Task


@contextlib.contextmanager
def misfits_named(folder: RunFolder) -> Iterator[None]:
    """A value that this run cannot have written becomes one line."""
    try:
        yield
    except MisfitError as error:
        raise RunError(f"{folder.checkpoint_path}: does not fit this run: {error}") from error


def stored_state(folder: RunFolder, config: RunConfig) -> Part | None:
    """The folder's checkpoint, unchecked but for its configuration; None if it has none yet."""
    state = folder.load_checkpoint()
    if state is None:
        return None
    path = folder.checkpoint_path
    try:
        made_with = config_from_dict(state.get("config"), str(path))
    except ConfigError as error:
        raise RunError(str(error)) from error
    for name in fixed_options():
        had, has = getattr(made_with, name), getattr(config, name)
        if had != has:
            raise RunError(f"{path}: made with {name} {had!r}, but {folder.CONFIG} says {has!r}")
    return Part(state)


def best_model(
    folder: RunFolder, config: RunConfig, model_for: Callable[[Part], nn.Module]
) -> tuple[nn.Module, int]:
    """The model for a checkpoint with the weights of the best epoch, and that epoch."""
    state = stored_state(folder, config)
    if state is None:
        raise RunError(f"{folder.path}: no checkpoint yet")
    with misfits_named(folder):
        model = model_for(state)
        epoch = state["epoch"].integer(1)
        best_epoch = state["stopping"]["best_epoch"].integer(0, epoch - 1)
        weights = weights_like(model, state["best" if best_epoch else "model"])
    model.load_state_dict(weights)
    return model.eval(), best_epoch


def load_best(task: Task, folder: RunFolder) -> int:
    """Puts the weights of the best epoch into the task's model and returns that epoch."""
    return best_model(folder, task.config, lambda state: task.model)[1]
