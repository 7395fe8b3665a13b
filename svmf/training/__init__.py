# SPDX-License-Identifier: MIT
"""Training: configuration, tasks, the resumable loop and the run folder.

>>> from svmf.training import make_config, start_run
>>> outcome = start_run(make_config("svae", dim=2, epochs=1), "runs/example")  # doctest: +SKIP
"""

from svmf.training.config import MODELS, RunConfig, make_config
from svmf.training.run import continue_run, evaluate_run, start_run
from svmf.training.run_folder import RunFolder
from svmf.training.trainer import Outcome

__all__ = [
    "MODELS",
    "Outcome",
    "RunConfig",
    "RunFolder",
    "continue_run",
    "evaluate_run",
    "make_config",
    "start_run",
]
