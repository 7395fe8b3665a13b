# SPDX-License-Identifier: MIT
"""Hostile checkpoints by structure: an honest one in which values anywhere in the tree are
replaced, removed or added, saved as a sound archive. A continued run must refuse it in one line, or
train on with finite weights: nothing may crash, hang or write outside of its memory."""

import atexit
import functools
import io
import json
import math
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fuzz.checks import require
from fuzz.children import Child
from fuzz.strangers import damaged
from fuzz.values import Chance
from reliability.tiny_run import tiny_config, write_images
from torch import Tensor

from svmf.training import continue_run, start_run

NUMBERS = (
    0, 1, -1, 2, 7, True, 2**31, 2**63 - 1, -(2**63), 2**70, 0.0, 0.5, -0.0, 1e308, 1e-320,
    math.inf, -math.inf, math.nan, 1j,
)  # fmt: skip
OTHERS = (None, "", "text", [], {}, (), [0], {"a": 0}, b"bytes", [[[[]]]])
DTYPES = (torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64)


@functools.cache
def honest_run() -> Path:
    """The folder of a finished run, kept until the process ends. Training it here, once, also
    imports what the children would otherwise import one by one."""
    folder = Path(tempfile.mkdtemp(prefix="svmf-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    torch.set_num_threads(1)
    start_run(tiny_config(write_images(folder / "images"), 1), folder / "run")
    shutil.copytree(folder / "run", folder / "again")
    continue_run(folder / "again", {"epochs": 2})
    return folder / "run"


@functools.cache
def honest_state() -> bytes:
    return (honest_run() / "checkpoint.pt").read_bytes()


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a tree of dicts and lists."""
    found = []
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            found.append((tree, key))
            found.extend(places(tree[key]))
    return found


def other_tensor(chance: Chance, honest: Tensor) -> Tensor:
    """The tensor in another shape, type or layout, or with a value that is no weight."""
    kind = chance.random.randrange(9)
    if kind == 0:
        return torch.zeros(chance.pick(((), (1,), (0,), (2, 2), (3, 1, 3), (5000,))))
    if kind == 1:  # every element is the same memory
        return torch.zeros(()).to(honest.dtype).expand(honest.shape)
    if kind == 2:
        return honest.to(chance.pick(DTYPES))
    if kind == 3 and honest.dim():
        return honest.to_sparse() if honest.is_floating_point() else honest[:0]
    if kind == 4 and honest.dim() >= 2:
        return honest.t().contiguous().t()
    if kind == 5 and honest.dim():
        return honest[: honest.shape[0] // 2]
    if kind == 6:
        return torch.empty(honest.shape, dtype=honest.dtype, device="meta")
    if kind == 7 and honest.numel():  # two rows share memory
        return honest.flatten().as_strided(honest.shape, [1] * honest.dim())
    changed = honest.clone()
    if changed.numel():
        value = chance.pick((0.0, -1.0, 1e30, math.inf, math.nan))
        number = value if changed.is_floating_point() else chance.pick((0, 1, 255))
        changed.view(-1)[chance.random.randrange(changed.numel())] = number
    return changed


def other_value(chance: Chance, honest: Any) -> Any:
    if isinstance(honest, Tensor) and not chance.one_in(4):
        return other_tensor(chance, honest)
    if isinstance(honest, list) and honest and chance.one_in(2):
        return chance.pick((honest[:-1], honest * 2, honest[::-1], honest[:1] * len(honest)))
    return chance.pick((*NUMBERS, *OTHERS, torch.zeros(3), [torch.zeros(7)]))


def hostile_state(chance: Chance) -> tuple[dict[str, Any], str]:
    """A changed state, and where it was changed."""
    state: dict[str, Any] = torch.load(io.BytesIO(honest_state()), weights_only=True)
    changed = []
    for _ in range(chance.pick((1, 1, 1, 2, 3))):
        container, key = chance.pick(places(state))
        changed.append(str(key))
        if chance.one_in(12):
            if isinstance(container, dict):
                container[chance.pick(("extra", 0, "maximize", "capturable"))] = container.pop(key)
            else:
                container.pop(key)
        else:
            container[key] = other_value(chance, container[key])
    return state, ",".join(changed)


def random_checkpoint(chance: Chance) -> str:
    state, where = hostile_state(chance)
    stream = io.BytesIO()
    try:
        torch.save(state, stream)
        content = stream.getvalue()
    except Exception:  # torch cannot write every value that it can hold
        return "checkpoint.unwritable"
    if chance.one_in(8):
        content = damaged(chance, content)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        shutil.copytree(honest_run(), run)
        (run / "checkpoint.pt").write_bytes(content)
        if chance.one_in(6):
            spoil_metrics(chance, run / "metrics.jsonl")
        call: Callable[[], str] = functools.partial(_continue, run)
        outcome = Child(call).result()
    return f"checkpoint.{outcome.split(':', 1)[0]} at {where}"


def spoil_metrics(chance: Chance, path: Path) -> None:
    content = path.read_bytes()
    garbage = chance.random.randbytes(len(content))
    path.write_bytes(chance.pick((b"", content[:-5], content * 2, b"[]\n", b"null\n", garbage)))


def _continue(run: Path) -> str:
    outcome = continue_run(run, {"epochs": 2})
    require(type(outcome.epoch) is int and outcome.epoch >= 1, f"epoch {outcome.epoch!r}")
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    for name, weight in state["model"].items():
        require(bool(weight.isfinite().all()), f"{name} is not finite after training")
        require(weight.is_contiguous(), f"{name} is not contiguous")
    for line in (run / "metrics.jsonl").read_text().splitlines():
        require(isinstance(json.loads(line), dict), "a line of the metrics is no record")
    return "continued"
