# SPDX-License-Identifier: MIT
"""What a checkpoint may be before torch reads it: an archive of plain entries, and a pickle that
asks for nothing but tensors and plain data.

Torch's own restricted reader calls no foreign code, but it hashes what it is given and calls
constructors with any arguments: as a key, a tuple a million deep ends the process by a full stack,
and 300 bytes of tuples that share their parts keep it busy for ever, deaf to Ctrl-C.
"""

import io
import pickletools
import re
import zipfile
from dataclasses import dataclass
from typing import Any

import torch

from svmf._torch_private import PICKLED_TENSORS

_MAX_PICKLE_BYTES = 1 << 20  # read in a second; honest ones have a few kilobytes
_DEEPEST_TUPLE, _LARGEST_TUPLE = 8, 100_000  # honest ones are four deep
_END_BYTES = 22  # of the directory's end, when no comment follows
_PLAIN = {
    "BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "SHORT_BINSTRING", "NONE",
    "NEWTRUE", "NEWFALSE",
}  # fmt: skip
_CONTAINERS = {"EMPTY_DICT", "EMPTY_LIST"}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_STORAGE = re.compile(r"torch ([A-Z][A-Za-z0-9]*)Storage|torch\.storage UntypedStorage")
_DTYPE = re.compile(r"torch [a-z][a-z0-9_]*")
_DICT = "collections OrderedDict"


class _Other:
    """A list, a dictionary, a tensor: what it holds is checked by who uses it."""


@dataclass(frozen=True)
class _Name:
    """A class or a function by name."""

    text: str


@dataclass(frozen=True)
class _Tuple:
    items: tuple[Any, ...]
    size: int
    depth: int


_MARK = object()


def check_archive(content: bytes) -> None:
    """Raises ValueError, or what zipfile or pickletools raise for a damaged file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        if not stored or sum(entry.file_size for entry in entries) > len(content):
            raise ValueError("unpacks to more than its size")
        # torch has a reader of archives of its own: both must find the same entries
        names = {entry.filename for entry in entries}
        end = content[-_END_BYTES:]
        start = archive.start_dir
        plain = content[:4] == b"PK\3\4" and end[:4] == b"PK\5\6"
        if not plain or int.from_bytes(end[16:20], "little") not in (start, 2**32 - 1):
            raise ValueError("has something before or behind the archive")
        if len(names) != len(entries):
            raise ValueError("has two entries of one name")
        damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"wrong checksum of {damaged}")
        pickles = [name for name in names if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError(f"expected one data.pkl, found {len(pickles)}")
        if archive.getinfo(pickles[0]).file_size > _MAX_PICKLE_BYTES:
            raise ValueError(f"its data.pkl has more than {_MAX_PICKLE_BYTES >> 20} MiB")
        folder = pickles[0].removesuffix("data.pkl")
        if not all(name.startswith(folder) for name in names):
            raise ValueError("has entries in two folders")
        _check_pickle(archive.read(pickles[0]))


def _check_pickle(program: bytes) -> None:
    """Follows the pickle without making anything."""
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(program):
        name = opcode.name
        if name in _PLAIN:
            stack.append(argument)
        elif name in _CONTAINERS:
            stack.append(_Other())
        elif name in _TUPLES:
            count = _TUPLES[name]
            items = tuple(stack[len(stack) - count :])
            if len(items) != count or _MARK in items:
                raise ValueError("a tuple of missing parts")
            del stack[len(stack) - count :]
            stack.append(_tuple(items))
        elif name == "TUPLE":
            stack.append(_tuple(tuple(_above_mark(stack))))
        elif name == "MARK":
            stack.append(_MARK)
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "GLOBAL":
            stack.append(_known(argument))
        elif name == "BINPERSID":
            _check_reference(stack.pop())
            stack.append(_Other())
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            _check_call(function, arguments)
            stack.append(_Other())
        elif name in ("APPENDS", "SETITEMS"):
            _above_mark(stack)
        elif name in ("APPEND", "BUILD"):
            stack.pop()
        elif name == "SETITEM":
            del stack[-2:]
        elif name not in ("PROTO", "STOP"):
            raise ValueError(f"the opcode {name} is not for checkpoints")


def _above_mark(stack: list[Any]) -> list[Any]:
    """Takes everything above the last mark, and the mark."""
    items: list[Any] = []
    while (item := stack.pop()) is not _MARK:  # an IndexError where there is none
        items.append(item)
    return items[::-1]


def _tuple(items: tuple[Any, ...]) -> _Tuple:
    inner = [item for item in items if isinstance(item, _Tuple)]
    size = 1 + len(items) + sum(item.size for item in inner)
    depth = 1 + max((item.depth for item in inner), default=0)
    if depth > _DEEPEST_TUPLE or size > _LARGEST_TUPLE:
        raise ValueError("a tuple that is too deep or too large")
    return _Tuple(items, size, depth)


def _known(name: str) -> _Name:
    if name != _DICT and name not in PICKLED_TENSORS:
        dtype = _DTYPE.fullmatch(name) and getattr(torch, name.split(" ")[1], None)
        if not _STORAGE.fullmatch(name) and not isinstance(dtype, torch.dtype):
            raise ValueError(f"the name {name!r} is not for checkpoints")
    return _Name(name)


def _check_call(function: Any, arguments: Any) -> None:
    name = function.text if isinstance(function, _Name) else None
    if not isinstance(arguments, _Tuple) or name not in (_DICT, *PICKLED_TENSORS):
        raise ValueError("a call of something that is no tensor")
    if name == _DICT and arguments.items:
        raise ValueError("a dictionary with a constructor's arguments")


def _check_reference(persistent: Any) -> None:
    """To the memory of a tensor, which torch looks up by its key and holds against its size."""
    items = persistent.items if isinstance(persistent, _Tuple) else ()
    known = len(items) == 5 and items[0] == "storage" and isinstance(items[1], _Name)
    if not known or type(items[2]) is not str or type(items[4]) is not int:
        raise ValueError("a reference to something that is no storage")
