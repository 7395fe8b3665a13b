# SPDX-License-Identifier: MIT
"""Reads the pickles of the Planetoid graphs, without Python's pickle.

A pickle is a program for a stack machine. This is such a machine for the opcodes and the six names
that the honest files use, and it calls nothing. Each instruction checks what it is given: a list
holds integers, a tuple holds at most eight values and inner tuples hold integers, a dict has short
names as keys, and arrays are made from bytes of a checked length. So nothing nests, nothing refers
to itself and nothing recurses, and there is a budget for each thing that can grow.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from svmf.data.files import read_bounded
from svmf.data.pickle_objects import Adjacency, Array, Csr, CsrMatrix, Dtype, Name, called, is_size
from svmf.errors import DataError

# In brackets: the most that an honest file uses.
MAX_FILE_BYTES = 64 << 20  # (7.6 MB)
_MAX_STEPS = 1_000_000  # (178,216)
_MAX_MEMO = 200_000  # (19,720)
_MAX_STACK = 10_000  # (2,060)
_MAX_TUPLE = 8  # (8)
_MAX_NAME = 64  # bytes of a line or a key (30)

_PROTOCOL = 2
_CONTAINERS = (list, dict, Adjacency, Csr)  # never inside of something else


def load_pickle(path: Path) -> np.ndarray | CsrMatrix | dict[int, list[int]]:
    """An array, a CSR matrix, or the neighbours of each node."""
    content = read_bounded(path, MAX_FILE_BYTES)
    machine = _Machine(content)
    try:
        return machine.run()
    except DataError as error:
        raise DataError(f"{path}: refused at byte {machine.place}: {error}") from None


class _Machine:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0  # of the next byte
        self.stack: list[Any] = []
        self.marks: list[int] = []  # heights of the stack
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        if self.take(2) != bytes([0x80, _PROTOCOL]):
            raise DataError(f"expected a pickle of protocol {_PROTOCOL}")
        for _ in range(_MAX_STEPS):
            opcode = self.take(1)
            if opcode == b".":
                return self.result()
            action = _ACTIONS.get(opcode)
            if action is None:
                raise DataError(f"uses the pickle opcode {opcode!r}")
            action(self)
        raise DataError(f"takes more than {_MAX_STEPS:,} steps")

    def result(self) -> Any:
        result = self.pop()
        if self.stack or self.marks or self.place != len(self.content):
            raise DataError("something is left behind the result")
        if isinstance(result, Adjacency):
            return self.checked_adjacency(result)
        value = result.value if isinstance(result, Array | Csr) else None
        if value is None:
            raise DataError("expected an array, a CSR matrix or an adjacency dict")
        return value

    def checked_adjacency(self, result: Adjacency) -> dict[int, list[int]]:
        # an honest end takes two bytes or more; a list that is used again takes none
        if sum(map(len, result.neighbours.values())) > len(self.content):
            raise DataError("more neighbours than the file has bytes")
        return result.neighbours

    # bytes, stack and memo

    def take(self, count: int) -> bytes:
        taken = self.content[self.place : self.place + count]
        self.place += len(taken)
        if len(taken) < count:
            raise DataError("the file ends here")
        return taken

    def take_line(self) -> bytes:
        end = self.content.find(b"\n", self.place, self.place + _MAX_NAME)
        if end < 0:
            raise DataError("expected a name")
        line = self.take(end + 1 - self.place)
        return line[:-1]

    def push(self, value: Any) -> None:
        if len(self.stack) >= _MAX_STACK:
            raise DataError(f"more than {_MAX_STACK:,} values at once")
        self.stack.append(value)

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise DataError("a value is missing")
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        if not self.marks:
            raise DataError("a mark is missing")
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def put(self, index: int) -> None:
        if len(self.memo) >= _MAX_MEMO:
            raise DataError(f"remembers more than {_MAX_MEMO:,} values")
        value = self.pop()
        self.memo[index] = value
        self.push(value)

    def get(self, index: int) -> None:
        if index not in self.memo:
            raise DataError("asks for a value that it did not store")
        self.push(self.memo[index])

    # instructions

    def push_name(self) -> None:
        module, name = self.take_line(), self.take_line()
        try:
            self.push(Name(module + b" " + name))
        except ValueError:
            spelled = (module + b"." + name).decode("ascii", "backslashreplace")
            raise DataError(f"names {spelled}, which this data set does not need") from None

    def push_tuple(self, values: list[Any]) -> None:
        for value in values:
            if isinstance(value, _CONTAINERS):
                raise DataError("expected no list or dict inside of a tuple")
            if isinstance(value, tuple) and not all(type(inner) is int for inner in value):
                raise DataError("expected integers in a tuple inside of another")
        if len(values) > _MAX_TUPLE:
            raise DataError(f"expected a tuple of at most {_MAX_TUPLE} values, got {len(values)}")
        self.push(tuple(values))

    def append(self, values: list[Any]) -> None:
        target = self.pop()
        if type(target) is not list or not all(type(value) is int for value in values):
            raise DataError("expected integers to append to a list")
        target.extend(values)
        self.push(target)

    def set_items(self) -> None:
        values, target = self.pop_to_mark(), self.pop()
        if len(values) % 2:
            raise DataError("expected pairs for a dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if isinstance(target, Adjacency) and is_size(key) and type(value) is list:
                target.neighbours[key] = value
            elif type(target) is dict and _is_name(key) and not isinstance(value, _CONTAINERS):
                target[key] = value
            else:
                raise DataError("expected lists of numbers by number, or fields by name")
        self.push(target)

    def call(self) -> None:
        arguments, name = self.pop(), self.pop()
        self.push(called(name, arguments))

    def new_object(self) -> None:
        arguments, name = self.pop(), self.pop()
        if name is not Name.CSR_MATRIX or arguments != ():
            raise DataError("makes an object that this data set does not need")
        self.push(Csr())

    def build(self) -> None:
        state, target = self.pop(), self.pop()
        if not isinstance(target, Array | Csr | Dtype) or target.value is not None:
            raise DataError("builds an object in a way that this data set does not need")
        target.build(state)
        self.push(target)


_ACTIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b"K": lambda m: m.push(m.take(1)[0]),
    b"M": lambda m: m.push(int.from_bytes(m.take(2), "little")),
    b"J": lambda m: m.push(struct.unpack("<i", m.take(4))[0]),
    b"U": lambda m: m.push(m.take(m.take(1)[0])),
    b"T": lambda m: m.push(m.take(int.from_bytes(m.take(4), "little"))),
    b")": lambda m: m.push(()),
    b"\x85": lambda m: m.push_tuple([m.pop()]),
    b"\x86": lambda m: m.push_tuple([m.pop(), m.pop()][::-1]),
    b"\x87": lambda m: m.push_tuple([m.pop(), m.pop(), m.pop()][::-1]),
    b"t": lambda m: m.push_tuple(m.pop_to_mark()),
    b"]": lambda m: m.push([]),
    b"a": lambda m: m.append([m.pop()]),
    b"e": lambda m: m.append(m.pop_to_mark()),
    b"}": lambda m: m.push({}),
    b"u": _Machine.set_items,
    b"(": lambda m: m.marks.append(len(m.stack)),
    b"q": lambda m: m.put(m.take(1)[0]),
    b"r": lambda m: m.put(int.from_bytes(m.take(4), "little")),
    b"h": lambda m: m.get(m.take(1)[0]),
    b"j": lambda m: m.get(int.from_bytes(m.take(4), "little")),
    b"c": _Machine.push_name,
    b"R": _Machine.call,
    b"\x81": _Machine.new_object,
    b"b": _Machine.build,
}


def _is_name(value: Any) -> bool:
    return type(value) is bytes and len(value) <= _MAX_NAME
