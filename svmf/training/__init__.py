# SPDX-License-Identifier: MIT
"""Training: configuration, tasks, the resumable loop and the run folder.

>>> from svmf.training import make_config, start_run
>>> outcome = start_run(make_config("svae", dim=2, epochs=1), "runs/example")  # doctest: +SKIP

The configuration needs no torch; the rest is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from svmf.training.config import MODELS, RunConfig, make_config

if TYPE_CHECKING:
    from svmf.training.fitting import fit
    from svmf.training.run import continue_run, evaluate_run, start_run
    from svmf.training.run_folder import RunFolder
    from svmf.training.trained_model import load_model
    from svmf.training.trainer import Outcome

__all__ = [
    "MODELS",
    "Outcome",
    "RunConfig",
    "RunFolder",
    "continue_run",
    "evaluate_run",
    "fit",
    "load_model",
    "make_config",
    "start_run",
]

_WHERE = {
    "Outcome": "trainer",
    "RunFolder": "run_folder",
    "continue_run": "run",
    "evaluate_run": "run",
    "fit": "fitting",
    "load_model": "trained_model",
    "start_run": "run",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
