# SPDX-License-Identifier: MIT
"""Metrics for TensorBoard, on request. The package is not among svmf's dependencies."""

import importlib.util
from pathlib import Path
from typing import Any

from svmf.errors import ConfigError


def require_tensorboard() -> None:
    if importlib.util.find_spec("tensorboard") is None:
        raise ConfigError("--tensorboard needs the package tensorboard, which is not installed")


class TensorBoardSink:
    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder))

    def write(self, epoch: int, record: dict[str, Any]) -> None:
        for part in ("train", "validation"):
            for name, value in record[part].items():
                self._writer.add_scalar(f"{part}/{name}", value, epoch)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
