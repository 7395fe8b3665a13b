# SPDX-License-Identifier: MIT
"""The folder of a run: configuration, metrics, checkpoint; safe against a kill at any moment.

    config.json     the configuration
    metrics.jsonl   one line per epoch; a pure function of the configuration, to the bit
    timing.jsonl    one line per epoch: how long it took
    checkpoint.pt   the whole state, replaced atomically

metrics.jsonl may be ahead of the checkpoint when a run is killed. The checkpoint knows the length
that belongs to it, and a continuation cuts the file there.
"""

import fcntl
import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from svmf.errors import RunError
from svmf.training.config import RunConfig, config_from_json

_MAX_CONFIG_BYTES = 1 << 20  # an honest one has less than one kilobyte


class RunFolder:
    """The files of one run: configuration, metrics, timing, checkpoint. Writes are atomic."""

    CONFIG = "config.json"
    METRICS = "metrics.jsonl"
    TIMING = "timing.jsonl"
    CHECKPOINT = "checkpoint.pt"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: io.IOBase | None = None

    @property
    def config_path(self) -> Path:
        return self.path / self.CONFIG

    @property
    def checkpoint_path(self) -> Path:
        return self.path / self.CHECKPOINT

    @property
    def metrics_path(self) -> Path:
        return self.path / self.METRICS

    def exists(self) -> bool:
        return self.config_path.is_file()

    def create(self, config: RunConfig) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.path}: cannot be made: {error.strerror}") from error
        atomic_write(self.config_path, config.to_json().encode())

    def lock(self) -> None:
        """Refuses a second process on the same run. The lock ends with the process, however."""
        try:
            stream = (self.path / ".lock").open("w")
        except OSError as error:
            raise RunError(f"{self.path}: not writable: {error.strerror}") from error
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.close()
            raise RunError(f"{self.path}: another process is training this run") from None
        self._lock = stream

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read_config(self) -> RunConfig:
        try:
            if self.config_path.stat().st_size > _MAX_CONFIG_BYTES:
                raise RunError(f"{self.config_path}: larger than {_MAX_CONFIG_BYTES >> 20} MiB")
            text = self.config_path.read_text()
        except FileNotFoundError:
            raise RunError(f"{self.path}: not a run folder (no {self.CONFIG} in it)") from None
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{self.config_path}: cannot be read: {error}") from error
        return config_from_json(text, str(self.config_path))

    def require_space(self, expected_bytes: int) -> None:
        """Two checkpoints must fit: the new one is written before the old one goes."""
        free = shutil.disk_usage(self.path).free
        if free < 2 * expected_bytes:
            raise RunError(
                f"{self.path}: {free / 1e6:.0f} MB are free, but the checkpoints of this run "
                f"need {2 * expected_bytes / 1e6:.0f} MB"
            )

    def save_checkpoint(self, state: dict[str, Any]) -> None:
        buffer = io.BytesIO()  # so that a full disk is met by our own write, with a clear error
        torch.save(state, buffer)
        with buffer.getbuffer() as content:  # released here: a buffer must not outlive its view
            atomic_write(self.checkpoint_path, content)

    def load_checkpoint(self) -> dict[str, Any] | None:
        """The state, or None if the run has none yet. Only tensors and plain data are admitted."""
        try:
            content = self.checkpoint_path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"{self.checkpoint_path}: cannot be read: {error.strerror}") from error
        try:
            _check_archive(content)
            state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises many kinds for a file that is not its own
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else ""
            raise RunError(
                f"{self.checkpoint_path}: not a readable checkpoint: "
                f"{type(error).__name__}: {first_line}"
            ) from error
        if not isinstance(state, dict) or state.get("format") != 1:
            raise RunError(f"{self.checkpoint_path}: not a checkpoint of this program")
        return state

    def append(self, name: str, record: dict[str, Any]) -> None:
        try:
            with (self.path / name).open("a") as stream:
                stream.write(json.dumps(record) + "\n")
        except OSError as error:
            raise RunError(
                f"{self.path / name}: cannot be written: {error.strerror}; "
                f"the last checkpoint is intact: free some space and continue with --resume"
            ) from error

    def metrics_length(self) -> int:
        """The length in bytes of the metrics, once they are safely on disk."""
        try:
            with self.metrics_path.open("ab") as stream:
                os.fsync(stream.fileno())
                return stream.tell()
        except OSError as error:
            raise RunError(f"{self.metrics_path}: cannot be written: {error.strerror}") from error

    def cut_metrics(self, length: int) -> None:
        """Drops what was written after the checkpoint."""
        have = self.metrics_path.stat().st_size if self.metrics_path.exists() else 0
        if have < length:
            raise RunError(
                f"{self.metrics_path}: has {have} bytes, but the checkpoint was made after {length}"
            )
        if have > length:
            os.truncate(self.metrics_path, length)

    def read_metrics(self) -> list[dict[str, Any]]:
        return list(read_json_lines(self.metrics_path))

    def training_seconds(self) -> float:
        """What all epochs took, in however many processes; of an epoch done twice, the last."""
        timing = {record["epoch"]: record for record in read_json_lines(self.path / self.TIMING)}
        return float(sum(r["train_seconds"] + r["validation_seconds"] for r in timing.values()))


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON-lines file. A last line without its end, left by a kill, is skipped."""
    if not path.exists():
        return
    with path.open() as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise RunError(f"{path}, line {number}: not JSON: {error}") from error


def _check_archive(content: bytes) -> None:
    """Refuses a checkpoint that would unpack to more than its own size, or whose bytes changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        if not stored or sum(entry.file_size for entry in entries) > len(content):
            raise ValueError("unpacks to more than its size")
        damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"wrong checksum of {damaged}")


def atomic_write(path: Path, content: bytes | memoryview) -> None:
    """The file has either its old content or all of the new one, after a crash too."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name itself must reach the disk
        finally:
            os.close(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RunError(
            f"{path}: cannot be written: {error.strerror}; what was there before is intact"
        ) from error
