# SPDX-License-Identifier: MIT
"""What the PTX instructions of tools/ptx.py do: one function for each kind, of the machine, the
parts of the instruction's name, its operands, and the threads that execute it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ptx import Machine

SHARED, PARAM = 1 << 40, 2 << 40  # where these spaces lie among generic addresses
TYPES = {
    "u8": "u1", "s8": "i1", "b8": "u1", "u16": "u2", "s16": "i2", "b16": "u2", "f16": "f2",
    "u32": "u4", "s32": "i4", "b32": "u4", "u64": "u8", "s64": "i8", "b64": "u8", "f32": "f4",
    "f64": "f8",
}  # fmt: skip
DTYPES = {name: np.dtype(code) for name, code in TYPES.items()}
UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater,
    "hs": np.greater_equal,
}  # fmt: skip


def binary(function: Callable) -> Callable:
    def run(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
        a, b = (m.read(o, parts[-1], at) for o in operands[1:3])
        m.write(operands[0], function(a, b), at)

    return run


def unary(function: Callable) -> Callable:
    def run(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
        m.write(operands[0], function(m.read(operands[1], parts[-1], at)), at)

    return run


def divide(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    a, b = (m.read(o, parts[-1], at) for o in operands[1:3])
    if a.dtype.kind == "f":
        m.write(operands[0], a / b, at)
        return
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = (
        np.abs(a) // np.abs(safe) * np.sign(a) * np.sign(safe) if a.dtype.kind == "i" else a // safe
    )
    result = quotient if parts[0] == "div" else a - quotient * safe
    m.write(operands[0], result.astype(a.dtype), at)


def multiply(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    kind = parts[-1]
    a, b = (m.read(o, kind, at) for o in operands[1:3])
    if parts[1] == "wide":
        wide = {"u": "u8", "s": "i8"}[kind[0]]
        result = a.astype(wide) * b.astype(wide)
    elif parts[1] == "hi":
        wide = {"u": np.uint64, "s": np.int64}[kind[0]]
        result = (a.astype(wide) * b.astype(wide) >> wide(32)).astype(a.dtype)
    else:
        result = a * b
    if parts[0] == "mad":
        result = result + m.read(operands[3], "s64" if parts[1] == "wide" else kind, at).astype(
            result.dtype
        )
    m.write(operands[0], result, at)


def fused(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    a, b, c = (m.read(o, parts[-1], at).astype("f8") for o in operands[1:4])
    m.write(operands[0], (a * b + c).astype(DTYPES[parts[-1]]), at)


def compare(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    test, kind = parts[1], parts[-1]
    a, b = (m.read(o, kind, at) for o in operands[1:3])
    if test in ("num", "nan"):
        number = ~(np.isnan(a) | np.isnan(b))
        result = number if test == "num" else ~number
    elif test in UNORDERED:
        result = COMPARE[UNORDERED[test]](a, b) | np.isnan(a) | np.isnan(b)
    elif a.dtype.kind == "f" and test == "ne":
        result = (a != b) & ~(np.isnan(a) | np.isnan(b))
    else:
        result = COMPARE[test](a, b)
    m.write(operands[0], result, at)


def select(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    a, b = (m.read(o, parts[-1], at) for o in operands[1:3])
    m.write(operands[0], np.where(m.register(operands[3])[at], a, b), at)


def shift(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    value = m.read(operands[1], parts[-1], at)
    bits = 8 * value.dtype.itemsize
    by = m.read(operands[2], "u32", at)
    amount = np.minimum(by, bits - 1).astype(value.dtype)
    moved = value << amount if parts[0] == "shl" else value >> amount
    gone = np.zeros_like(value) if value.dtype.kind == "u" or parts[0] == "shl" else moved
    m.write(operands[0], np.where(by >= bits, gone, moved), at)


def move(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    whole = DTYPES[parts[-1]].itemsize
    half, bits = f"u{whole // 2}", np.uint64(4 * whole)
    if operands[0].startswith("{"):  # the halves of a word
        low, high = (o.strip() for o in operands[0].strip("{}").split(","))
        word = m.read(operands[1], parts[-1], at).astype("u8")
        m.write(low, word.astype(half), at)
        m.write(high, (word >> bits).astype(half), at)
    elif operands[1].startswith("{"):
        low, high = (
            m.read(o.strip(), f"u{4 * whole}", at).astype("u8")
            for o in operands[1].strip("{}").split(",")
        )
        m.write(operands[0], (low | high << bits).astype(f"u{whole}"), at)
    else:
        kind = parts[-1]
        m.write(operands[0], m.read(operands[1], kind, at), at)


def convert(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    target, source = DTYPES[parts[-2]], m.read(operands[1], parts[-1], at)
    if target.kind in "iu" and source.dtype.kind == "f":
        rounding = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}
        source = next(f for name, f in rounding.items() if name in parts)(source)
        info = np.iinfo(target)
        source = np.nan_to_num(np.clip(source.astype("f8"), info.min, info.max))
    elif target.kind == "f" and source.dtype.kind == "f" and target == source.dtype:
        rounding = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}
        for name, function in rounding.items():
            source = function(source) if name in parts else source
    value = source.astype(target)
    register = m.register(operands[0])
    if target.kind == "i" and register.dtype.itemsize > target.itemsize:
        value = value.astype(f"i{register.dtype.itemsize}")
    m.write(operands[0], value, at)


def to_generic(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    value = m.read(operands[1], "u64", at)
    space = {"shared": SHARED, "param": 0, "to": 0, "global": 0}[parts[1]]
    m.write(operands[0], value + np.uint64(space), at)


def branch(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    m.pc[at] = m.kernel.labels[operands[-1]]


def leave(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    m.pc[at] = len(m.kernel.code)


def shuffle(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    target = operands[0].split("|")[0]
    value = m.read(operands[1], "u32", at).reshape(-1, 32)
    by = m.read(operands[2], "u32", at).astype(int).reshape(-1, 32)
    mask = m.read(operands[3], "u32", at).astype(int).reshape(-1, 32)
    lane = np.arange(32)[None, :]
    segment = mask >> 8 & 31
    low = lane & segment
    top = low | (mask & 31 & ~segment)
    source = {"bfly": lane ^ by, "idx": low | (by & ~segment), "down": lane + by, "up": lane - by}[
        parts[2]
    ]
    inside = source >= low if parts[2] == "up" else source <= top
    source = np.where(inside, source, lane) & 31
    m.write(target, np.take_along_axis(value, source, axis=1).ravel(), at)


def vote(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    name = operands[1]
    flags = m.register(name.lstrip("!"))[at].reshape(-1, 32) ^ name.startswith("!")
    bits = (flags.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1).astype("u4")
    m.write(operands[0], np.repeat(bits, 32), at)


def count_bits(value: np.ndarray) -> np.ndarray:
    return sum((value >> np.uint32(i)) & np.uint32(1) for i in range(32)).astype("u4")


def leading_zeros(value: np.ndarray) -> np.ndarray:
    return (32 - np.ceil(np.log2(value.astype("f8") + 1))).astype("u4")


def reverse_bits(value: np.ndarray) -> np.ndarray:
    bits = ((value >> np.uint32(i)) & np.uint32(1) for i in range(32))
    return sum(bit << np.uint32(31 - i) for i, bit in enumerate(bits)).astype("u4")


def find_bit(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    value = m.read(operands[1], "u32", at).astype("f8")
    top = np.where(value > 0, np.floor(np.log2(np.maximum(value, 1))), -1).astype("i8")
    if "shiftamt" in parts:
        top = np.where(top >= 0, 31 - top, -1)
    m.write(operands[0], (top & 0xFFFFFFFF).astype("u4"), at)


def nothing(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    """Barriers: everybody is here."""


HANDLERS: dict[str, Callable] = {
    "add": binary(np.add),
    "sub": binary(np.subtract),
    "min": binary(np.fmin),
    "max": binary(np.fmax),
    "and": binary(np.bitwise_and),
    "or": binary(np.bitwise_or),
    "xor": binary(np.bitwise_xor),
    "not": unary(np.invert),
    "neg": unary(np.negative),
    "abs": unary(np.abs),
    "sqrt": unary(np.sqrt),
    "rcp": unary(lambda x: x.dtype.type(1) / x),
    "popc": unary(count_bits),
    "clz": unary(leading_zeros),
    "brev": unary(reverse_bits),
    "bfind": find_bit,
    "div": divide,
    "rem": divide,
    "mul": multiply,
    "mad": multiply,
    "fma": fused,
    "setp": compare,
    "selp": select,
    "shl": shift,
    "shr": shift,
    "mov": move,
    "cvt": convert,
    "cvta": to_generic,
    "bra": branch,
    "ret": leave,
    "exit": leave,
    "bar": nothing,
    "shfl": shuffle,
    "vote": vote,
}
