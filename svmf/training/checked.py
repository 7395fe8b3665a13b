# SPDX-License-Identifier: MIT
"""A checkpoint is data from a stranger. `Part` is a value in it together with its place; whoever
owns a part of the state asks it for what this run could have written, and gets that or an error
that names the place, what was expected and what came."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from svmf.errors import one_line


class MisfitError(ValueError):
    """A value that this run cannot have written."""


class Part:
    """`value` at `place`; the methods return checked content."""

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def __getitem__(self, key: str | int) -> "Part":
        """An entry of a dictionary."""
        if not isinstance(self.value, dict):
            raise self.misfit("a dictionary")
        if key not in self.value:
            raise self._at(key, None).misfit("an entry", "none")
        return self._at(key, self.value[key])

    def keys(self, expected: Iterable[Any]) -> None:
        """A dictionary with exactly these keys."""
        expected = set(expected)
        if not isinstance(self.value, dict):
            raise self.misfit("a dictionary")
        for key in self.value:
            if key not in expected:
                raise self._at(key, None).misfit("no such entry", "one")
        for key in expected:
            self[key]

    def indices(self, count: int) -> list[int]:
        """The keys of a dictionary that has only indices below `count`."""
        if not isinstance(self.value, dict):
            raise self.misfit("a dictionary")
        return [Part(key, f"{self.place}, a key").integer(0, count - 1) for key in self.value]

    def items(self, count: int) -> Iterator["Part"]:
        """The entries of a list."""
        if not isinstance(self.value, (list, tuple)) or len(self.value) != count:
            raise self.misfit(f"a list of {count}")
        return (self._at(index, entry) for index, entry in enumerate(self.value))

    def integer(self, low: int, high: int | None = None) -> int:
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        value = self.value
        if type(value) is not int or value < low or (high is not None and value > high):
            raise self.misfit(f"an integer {bounds}")
        return value

    def number(self) -> float:
        value = self.value
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self.misfit("a finite number")
        return float(value)

    def equal(self, expected: Any) -> None:
        """A plain value that is known."""
        plain = isinstance(self.value, (int, float, str, tuple, list, type(None)))
        if not plain or self.value != expected:
            raise self.misfit(repr(expected))

    def tensor(self, like: Tensor, low: float = -math.inf) -> Tensor:
        """A copy in memory of its own, with the shape, type, layout and device of `like`, of finite
        numbers of at least `low`."""
        value = self.value
        expected = f"a {_name(like.dtype)} tensor of shape {list(like.shape)}"
        if not isinstance(value, Tensor) or value.layout is not torch.strided:
            raise self.misfit(expected)
        if value.dtype != like.dtype or value.shape != like.shape or value.device.type != "cpu":
            raise self.misfit(expected)
        reach = 1 + sum((n - 1) * s for n, s in zip(value.shape, value.stride(), strict=True))
        if reach < value.numel():
            raise self.misfit(expected, "one whose elements share memory")
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise self.misfit("finite numbers", "others")
        if low > -math.inf and value.numel() and float(value.min()) < low:
            raise self.misfit(f"numbers of at least {low:g}", f"{float(value.min()):g}")
        return torch.empty_like(like, requires_grad=False).copy_(value.detach())

    def misfit(self, expected: str, got: str | None = None) -> MisfitError:
        return MisfitError(
            f"{self.place}: expected {expected}, got {got or _described(self.value)}"
        )

    def _at(self, key: Any, value: Any) -> "Part":
        return Part(value, f"{self.place}.{one_line(str(key))}".lstrip("."))


def weights_like(model: nn.Module, part: Part) -> dict[str, Tensor]:
    """Checked weights for `model.load_state_dict`."""
    own = model.state_dict()
    part.keys(own)
    return {name: part[name].tensor(tensor) for name, tensor in own.items()}


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        where = "" if value.device.type == "cpu" else f" on {value.device.type}"
        layout = "" if value.layout is torch.strided else "sparse "
        return f"a {layout}{_name(value.dtype)} tensor of shape {list(value.shape)}{where}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return one_line(repr(value))
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
