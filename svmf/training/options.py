# SPDX-License-Identifier: MIT
"""Options of a run, each said once: a dataclass field with its help, type, range and group.

The command line, the checks and the JSON reader are made from the field. The type is the field's
annotation; one that is not known here is an error when the class is first used. No torch.
"""

import argparse
import dataclasses
import math
import reprlib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from svmf.errors import ConfigError, one_line

_METADATA = "svmf"


@dataclass(frozen=True)
class Range:
    """Bounds of a number, or of each of several. `at_least` and `at_most` belong to the range,
    `above` and `below` do not. `noun` names the number in the message."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    noun: str | None = None

    def broken_by(self, value: float) -> str | None:
        """The bound that the value breaks, in words; None if it breaks none."""
        if not math.isfinite(value):
            return "a finite number"
        of = f"{self.noun} of " if self.noun else ""
        if self.at_least is not None and value < self.at_least:
            return f"{of}at least {_plain(self.at_least)}"
        if self.at_most is not None and value > self.at_most:
            return f"{of}at most {_plain(self.at_most)}"
        if self.above is not None and value <= self.above:
            return f"{self.noun or 'a number'} above {_plain(self.above)}"
        if self.below is not None and value >= self.below:
            return f"{self.noun or 'a number'} below {_plain(self.below)}"
        return None


@dataclass(frozen=True)
class _Said:
    """What a field says of itself beside its name, its type and its default."""

    help: str
    group: str
    range: Range | None = None
    choices: tuple[str, ...] | None = None
    metavar: str | None = None
    without: str | None = None  # what a default of None means
    only: str | None = None  # the one kind of model that reads it
    resumable: bool = False  # may differ when a run is continued


def option(default: Any, *said: Any, **more: Any) -> Any:
    """A field that is an option; all but the default is for `_Said`."""
    return dataclasses.field(default=default, metadata={_METADATA: _Said(*said, **more)})


@dataclass(frozen=True)
class Option:
    """One option of a record, with everything that is known of it."""

    name: str
    default: Any
    type: type  # int, float, str, bool, or tuple for several integers
    optional: bool  # None is a value
    said: _Said

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    def read(self, value: Any, origin: str = "") -> Any:
        """The value in the option's own type, or an error that names what it was."""
        if value is None and self.optional:
            return None
        if self.type is tuple:
            if isinstance(value, (list, tuple)):
                if all(_is_integer(item) for item in value):
                    return tuple(int(item) for item in value)
                raise self._wrong_type("a list of integers", value, origin)
        elif self.type is int and _is_integer(value):
            return int(value)
        elif self.type is float and isinstance(value, Real) and not isinstance(value, bool):
            return self._as_float(value, origin)
        elif self.type in (str, bool) and isinstance(value, self.type):
            return value
        wanted = {tuple: "list", float: "int or float"}.get(self.type, self.type.__name__)
        raise self._wrong_type(wanted + (" or null" if self.optional else ""), value, origin)

    def check(self, value: Any) -> None:
        """Refuses a value of the right type that is out of range."""
        if value is None:
            return
        said = self.said
        expected = None
        if said.choices is not None and value not in said.choices:
            expected = f"one of {', '.join(said.choices)}"
        elif said.range is not None and self.type is tuple:
            broken = (said.range.broken_by(item) for item in value)
            expected = next(filter(None, broken), None) if value else "at least one"
        elif said.range is not None:
            expected = said.range.broken_by(value)
        if expected is not None:
            raise ConfigError(f"{self.flag}: expected {expected}, got {value!r}")

    def add_to(self, group: Any, help: str) -> None:
        """Into a group of an argument parser; not given is None."""
        if self.type is bool:
            group.add_argument(self.flag, action="store_true", default=None, help=help)
            return
        group.add_argument(
            self.flag,
            type=int if self.type is tuple else self.type,
            nargs="+" if self.type is tuple else None,
            metavar=self.said.metavar or {int: "N", float: "X", tuple: "N"}.get(self.type),
            help=help,
        )

    def _as_float(self, value: Any, origin: str) -> Any:
        try:
            float(value)
        except OverflowError:  # an integer of more than 308 digits
            raise self._wrong_type("a number within the range of float64", value, origin) from None
        return value if isinstance(value, (int, float)) else float(value)

    def _wrong_type(self, wanted: str, value: Any, origin: str) -> ConfigError:
        # a list of a stranger's may be deep, or hold itself many times over
        shown = one_line(reprlib.repr(value), 80)
        return ConfigError(f"{origin}option {self.name!r} must be {wanted}, got {shown}")


def options_of(record: type) -> dict[str, Option]:
    """The options of a dataclass by name, in the order of its fields."""
    hints = typing.get_type_hints(record)
    found = {}
    for field in dataclasses.fields(record):
        if _METADATA in field.metadata:
            kind, optional = _known_type(record, field.name, hints[field.name])
            said = field.metadata[_METADATA]
            if optional and said.without is None:
                raise TypeError(f"{record.__name__}.{field.name}: what does None mean?")
            found[field.name] = Option(field.name, field.default, kind, optional, said)
    return found


def add_options(
    parser: argparse.ArgumentParser, options: Mapping[str, Option], help_of: Callable[[Option], str]
) -> None:
    """Every option as a flag, under its group's title."""
    groups: dict[str, Any] = {}
    for item in options.values():
        title = item.said.group
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        item.add_to(groups[title], help_of(item))


def _known_type(record: type, name: str, hint: Any) -> tuple[type, bool]:
    members = list(typing.get_args(hint)) if isinstance(hint, types.UnionType) else [hint]
    optional = type(None) in members
    members = [member for member in members if member is not type(None)]
    if len(members) == 1:
        if members[0] in (int, float, str, bool):
            return members[0], optional
        if members[0] == tuple[int, ...]:
            return tuple, optional
    raise TypeError(f"{record.__name__}.{name}: no option can have the type {hint}")


def _plain(bound: float) -> str:
    return f"{bound}" if isinstance(bound, int) else f"{bound:g}"


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
