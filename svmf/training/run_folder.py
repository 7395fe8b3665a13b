# SPDX-License-Identifier: MIT
"""The folder of a run: configuration, metrics, checkpoint; safe against a kill at any moment.

    config.json     the configuration
    metrics.jsonl   one line per epoch; a pure function of the configuration, to the bit
    timing.jsonl    one line per epoch: how long it took
    checkpoint.pt   the whole state, replaced atomically
    .lock           held by the process that trains

metrics.jsonl may be ahead of the checkpoint when a run is killed. The checkpoint knows the length
that belongs to it, and a continuation cuts the file there.
"""

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from svmf.errors import RunError, one_line
from svmf.training.checkpoint_archive import check_archive
from svmf.training.config import RunConfig, config_from_json
from svmf.training.files import (
    FileLock,
    atomic_write,
    is_file,
    named_trouble,
    read_file,
    remove_temporaries,
    require_regular,
)

_MAX_CONFIG_BYTES = 1 << 20  # an honest one has less than one kilobyte


class RunFolder:
    """The files of one run, and who may write them."""

    CONFIG = "config.json"
    METRICS = "metrics.jsonl"
    TIMING = "timing.jsonl"
    CHECKPOINT = "checkpoint.pt"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: FileLock | None = None
        self._made: list[Path] = []  # folders that this object made, the outermost first

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
        """Whether a run was started here."""
        return is_file(self.config_path)

    def require_new(self) -> None:
        """Refuses a folder that holds a run, or remains of one."""
        if self.exists():
            raise RunError(
                f"{self.path}: already holds a run; "
                "continue it with --resume, or choose another --out"
            )
        for name in (self.CONFIG, self.CHECKPOINT, self.METRICS, self.TIMING):
            if os.path.lexists(self.path / name):
                raise RunError(f"{self.path}: has a {name} but no run; choose another --out")

    def create(self, config: RunConfig) -> None:
        """Locks a new run before anything of it is written. After an error, `abandon` it."""
        self.require_new()
        missing = [f for f in (self.path, *self.path.parents) if not os.path.lexists(f)]
        with named_trouble(self.path, "cannot be made"):
            self.path.mkdir(parents=True, exist_ok=True)
        self._made = missing[::-1]
        self.lock()
        try:
            self.require_new()  # nobody else began in between
        except RunError:
            self.unlock()
            raise
        atomic_write(self.config_path, config.to_json().encode())

    def abandon(self) -> None:
        """A new run that could not begin leaves nothing behind: the next start is not refused."""
        if self._lock is None:
            return
        for name in (self.CHECKPOINT, self.METRICS, self.CONFIG):
            with contextlib.suppress(OSError):
                (self.path / name).unlink()
        self.unlock(remove=True)
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):  # somebody else's files are in it
                folder.rmdir()

    def lock(self) -> None:
        """Refuses a second process on the same run. The lock ends with the process, however."""
        lock = FileLock(self.path / ".lock")
        with named_trouble(self.path, "not writable"):
            if not lock.acquire():
                raise RunError(f"{self.path}: another process is training this run")
        for name in (self.METRICS, self.TIMING):
            try:
                require_regular(self.path / name)
            except RunError:
                lock.release()
                raise
        self._lock = lock
        for name in (self.CONFIG, self.CHECKPOINT):
            remove_temporaries(self.path / name)

    def unlock(self, remove: bool = False) -> None:
        """Lets other processes write here again."""
        if self._lock is not None:
            self._lock.release(remove)
            self._lock = None

    def read_config(self) -> RunConfig:
        """The run's options, checked."""
        content = read_file(self.config_path, _MAX_CONFIG_BYTES)
        if content is None:
            raise RunError(f"{self.path}: not a run folder (no {self.CONFIG} in it)")
        with named_trouble(self.config_path, "cannot be read"):
            text = content.decode()
        return config_from_json(text, str(self.config_path))

    def require_space(self, expected_bytes: int) -> None:
        """Two checkpoints must fit: the new one is written before the old one goes."""
        with named_trouble(self.path, "free space is unknown"):
            free = shutil.disk_usage(self.path).free
        if free < 2 * expected_bytes:
            raise RunError(
                f"{self.path}: {free / 1e6:.3f} MB are free, but the checkpoints of this run "
                f"need {2 * expected_bytes / 1e6:.3f} MB"
            )

    def save_checkpoint(self, state: dict[str, Any]) -> None:
        """Replaces the checkpoint in one step: a reader finds the old one or the new one."""
        buffer = io.BytesIO()  # so that a full disk is met by our own write, with a clear error
        torch.save(state, buffer)
        with buffer.getbuffer() as content:  # released here: a buffer must not outlive its view
            atomic_write(self.checkpoint_path, content)

    def load_checkpoint(self) -> dict[str, Any] | None:
        """The state, or None if the run has none yet. Only tensors and plain data are admitted;
        what they are is for `svmf.training.checked` to find out."""
        content = read_file(self.checkpoint_path)
        if content is None:
            return None
        try:
            check_archive(content)
            state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises many kinds for a file that is not its own
            first = (str(error).strip().splitlines() or [""])[0]
            raise RunError(
                f"{self.checkpoint_path}: not a readable checkpoint: "
                f"{type(error).__name__}: {one_line(first, 200)}"
            ) from error
        if not isinstance(state, dict) or state.get("format") != 1:
            raise RunError(f"{self.checkpoint_path}: not a checkpoint of this program")
        return state

    def append(self, name: str, record: dict[str, Any]) -> None:
        """Adds a line of JSON to a file of the run."""
        after = "; the last checkpoint is intact: free some space and continue with --resume"
        with (
            named_trouble(self.path / name, "cannot be written", after),
            (self.path / name).open("a") as stream,
        ):
            stream.write(json.dumps(record) + "\n")

    def metrics_length(self) -> int:
        """The length in bytes of the metrics, once they are safely on disk."""
        with (
            named_trouble(self.metrics_path, "cannot be written"),
            self.metrics_path.open("ab") as stream,
        ):
            os.fsync(stream.fileno())
            return stream.tell()

    def require_metrics(self, length: int, epochs: int) -> None:
        """Refuses metrics whose first `length` bytes are not those of so many epochs."""
        content = read_file(self.metrics_path) or b""
        if len(content) < length:
            raise RunError(
                f"{self.metrics_path}: has {len(content)} bytes, "
                f"but the checkpoint was made after {length}"
            )
        records = list(_json_lines(self.metrics_path, content[:length]))
        numbered = all(record.get("epoch") == n for n, record in enumerate(records, 1))
        whole_lines = content[:length][-1:] in (b"", b"\n")
        if len(records) != epochs or not numbered or not whole_lines:
            raise RunError(
                f"{self.metrics_path}: the first {length} bytes are not the {epochs} epochs "
                "that the checkpoint was made after"
            )

    def cut_metrics(self, length: int) -> None:
        """Drops what was written after the checkpoint."""
        with named_trouble(self.metrics_path, "cannot be written"):
            if is_file(self.metrics_path) and self.metrics_path.stat().st_size > length:
                os.truncate(self.metrics_path, length)

    def read_metrics(self) -> list[dict[str, Any]]:
        """The records of all epochs."""
        return list(read_json_lines(self.metrics_path))

    def training_seconds(self) -> float:
        """What all epochs took, in however many processes; of an epoch done twice, the last."""
        timing = {record["epoch"]: record for record in read_json_lines(self.path / self.TIMING)}
        return float(sum(r["train_seconds"] + r["validation_seconds"] for r in timing.values()))


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON-lines file. A last line without its end, left by a kill, is skipped."""
    yield from _json_lines(path, read_file(path) or b"")


def _json_lines(path: Path, content: bytes) -> Iterator[dict[str, Any]]:
    *lines, _ = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = type(error).__name__ if isinstance(error, RecursionError) else error
            raise RunError(f"{path}, line {number}: not JSON: {reason}") from error
        if not isinstance(record, dict):
            raise RunError(f"{path}, line {number}: expected a JSON object")
        yield record
