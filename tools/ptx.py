# SPDX-License-Identifier: MIT
"""An interpreter for the PTX that nvcc makes of our float32 kernels: it runs a launch on the CPU,
and counts the instructions that the warps issue and the 32-byte sectors that their loads and
stores of global memory touch.

All threads of the grid advance together, as lanes of numpy arrays: the lowest instruction that any
thread waits at is next, for all that wait there. Warp functions and barriers are meeting points.
An fma is computed in float64 and rounded once more, so results may differ by a last bit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

SHARED, PARAM = 1 << 40, 2 << 40  # where these spaces lie among generic addresses
REGISTER = re.compile(r"%(tmp|[a-z]+\d+)")
TYPES = {
    "u8": "u1", "s8": "i1", "b8": "u1", "u16": "u2", "s16": "i2", "b16": "u2", "u32": "u4",
    "s32": "i4", "b32": "u4", "u64": "u8", "s64": "i8", "b64": "u8", "f32": "f4", "f64": "f8",
}  # fmt: skip
DTYPES = {name: np.dtype(code) for name, code in TYPES.items()}
CLASSES = {"tmp": "u8", "p": "?", "rs": "u2", "f": "f4", "r": "u4", "rd": "u8", "fd": "f8"}
# What ptxas makes part of other instructions; so are loads of parameters.
FOLDED = ("mov", "cvta")
UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater,
    "hs": np.greater_equal,
}  # fmt: skip


@dataclass
class Instruction:
    guard: str  # "", "%p3" or "!%p3"
    parts: list[str]
    operands: list[str]
    text: str


@dataclass
class Kernel:
    name: str
    params: dict[str, int]  # sizes
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def parse(text: str) -> dict[str, Kernel]:
    """The kernels of a file by their mangled names."""
    kernels = {}
    entries = re.finditer(r"\.entry (\w+)\((.*?)\)\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    for entry in entries:
        params = re.findall(r"\.param (?:\.align \d+ )?\.\w+ (\w+)(?:\[(\d+)\])?", entry[2])
        kernel = Kernel(entry[1], {name: int(size or 8) for name, size in params})
        for line in entry[3].splitlines():
            line = line.split("//")[0].strip()
            line = line.removesuffix("}").strip() if line.endswith("; }") else line
            if label := re.fullmatch(r"(\$\w+):", line):
                kernel.labels[label[1]] = len(kernel.code)
            found = re.match(r"(?:@(!?%p\d+)\s+)?([a-z][\w.:]*)\s*(.*);$", line)
            if not found:
                continue
            operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", found[3])
            kernel.code.append(Instruction(found[1] or "", found[2].split("."), operands, line))
        kernels[kernel.name] = kernel
    return kernels


class Machine:
    """One launch: memory, threads, counts."""

    def __init__(
        self, kernel: Kernel, grid: int, block: int, shared: int, params: list[bytes], memory
    ) -> None:
        self.kernel, self.block = kernel, block
        self.threads = grid * block
        self.memory = memory
        self.lanes = np.arange(self.threads)
        self.warp = self.lanes // 32
        self.block_of = self.lanes // block
        self.shared = np.full((grid, (shared + 63) // 32 * 32), 0xFF, "u1")
        self.registers: dict[str, np.ndarray] = {}
        self.param_at, data = {}, b""
        for name, value in zip(kernel.params, params, strict=True):
            data += bytes(-len(data) % 64)
            self.param_at[name] = PARAM + len(data)
            data += value
        self.param = np.frombuffer(data + bytes(64), "u1")
        self.pc = np.zeros(self.threads, np.int64)
        self.waiting = np.zeros(self.threads, bool)
        self.instructions = 0
        self.sectors = 0
        self.by_name: Counter[str] = Counter()

    # Operands

    def register(self, name: str) -> np.ndarray:
        if name not in self.registers:
            code = CLASSES[re.match(r"%([a-z]+)", name)[1]]
            self.registers[name] = np.zeros(self.threads, code)
        return self.registers[name]

    def read(self, operand: str, kind: str, at: np.ndarray) -> np.ndarray:
        dtype = np.dtype("?") if kind == "pred" else DTYPES[kind]
        if REGISTER.fullmatch(operand):
            value = self.register(operand)[at]
            if dtype == "?" or value.dtype == dtype:
                return value
            if value.dtype.itemsize == dtype.itemsize:
                return value.view(dtype)
            return value.astype(f"u{dtype.itemsize}").view(dtype)  # the low bits
        if operand.startswith(("0f", "0d")):
            raw = np.array([int(operand[2:], 16)], "u4" if operand[1] == "f" else "u8")
            return np.broadcast_to(raw.view("f4" if operand[1] == "f" else "f8"), at.shape)
        special = {
            "%tid.x": self.lanes % self.block,
            "%ctaid.x": self.block_of,
            "%ntid.x": np.full(self.threads, self.block),
            "%nctaid.x": np.full(self.threads, self.threads // self.block),
        }
        if operand in special:
            return special[operand][at].astype(dtype)
        if operand in self.param_at:
            number = self.param_at[operand]
        elif re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", operand):
            number = int(operand, 0)
        else:
            number = 0  # the block's shared memory, the only array
        bits = 8 * dtype.itemsize
        raw = np.array([number & ((1 << bits) - 1)], np.uint64).astype(f"u{dtype.itemsize}")
        return np.broadcast_to(raw.view(dtype), at.shape)

    def write(self, name: str, value: np.ndarray, at: np.ndarray) -> None:
        if name == "_":
            return
        target = self.register(name)
        value = np.asarray(value)
        if value.dtype != target.dtype:
            if value.dtype.itemsize == target.dtype.itemsize and target.dtype != "?":
                value = np.ascontiguousarray(value).view(target.dtype)
            else:
                value = value.astype(target.dtype)
        target[at] = value

    # Memory

    def address(self, operand: str, at: np.ndarray) -> np.ndarray:
        base, _, offset = operand.strip("[]").partition("+")
        wide = "%r" in base and "%rd" not in base
        start = self.read(base, "u32" if wide else "u64", at).astype(np.int64)
        return start + (int(offset) if offset else 0)

    def access(
        self, address: np.ndarray, dtype: np.dtype, at: np.ndarray, value: np.ndarray | None
    ) -> np.ndarray | None:
        """A load, or a store of `value`, at generic addresses."""
        result = np.zeros(at.shape, dtype)
        space = address >> 40
        for number in np.unique(space):
            here = space == number
            where = address[here] & ((1 << 40) - 1)
            if (where % dtype.itemsize).any():
                raise RuntimeError(f"misaligned access of {dtype.itemsize} bytes")
            if number == 0:
                data = self.memory.view(dtype)
                index: tuple = (where // dtype.itemsize,)
            elif number == SHARED >> 40:
                data = self.shared.view(dtype)
                index = (self.block_of[at][here], where // dtype.itemsize)
            else:
                data = self.param[: len(self.param) // 8 * 8].view(dtype)
                index = (where // dtype.itemsize,)
            if value is None:
                result[here] = data[index]
            else:
                data[index] = value[here]
        return result

    def count_sectors(self, address: np.ndarray, size: int, at: np.ndarray) -> None:
        glob = address >> 40 == 0
        first, warp = address[glob] >> 5, self.warp[at][glob]
        last = (address[glob] + size - 1) >> 5
        keys = np.concatenate([warp << 40 | first, warp << 40 | last])
        self.sectors += len(np.unique(keys))

    # Running

    def run(self) -> None:
        code = self.kernel.code
        end = len(code)
        while True:
            ready = ~self.waiting & (self.pc < end)
            if not ready.any():
                if (self.pc < end).any():
                    raise RuntimeError("threads wait for others that have left")
                return
            now = int(self.pc[ready].min())
            at = np.flatnonzero(ready & (self.pc == now))
            instruction = code[now]
            name = instruction.parts[0]
            if name in ("bar", "shfl", "vote"):
                self.waiting[at] = True
                at = self.met(now, instruction.parts)
                if not len(at):
                    continue
                self.waiting[at] = False
            self.issue(instruction, at)
            self.pc[at] = now + 1
            if instruction.guard:
                predicate = self.register(instruction.guard.lstrip("!"))[at]
                at = at[predicate != instruction.guard.startswith("!")]
            if len(at):
                self.execute(instruction, at)

    def met(self, now: int, parts: list[str]) -> np.ndarray:
        """The waiting threads whose warp, or block, is all here."""
        group = self.block_of if parts[:2] == ["bar", "sync"] else self.warp
        live = self.pc < len(self.kernel.code)
        here = self.waiting & (self.pc == now)
        missing = np.zeros(group.max() + 1, bool)
        missing[group[live & ~here]] = True
        return np.flatnonzero(here & ~missing[group])

    def issue(self, instruction: Instruction, at: np.ndarray) -> None:
        name = instruction.parts[0]
        if name in FOLDED or instruction.parts[:2] == ["ld", "param"]:
            return
        warps = len(np.unique(self.warp[at]))
        self.instructions += warps
        self.by_name[name] += warps

    def execute(self, instruction: Instruction, at: np.ndarray) -> None:
        parts, operands = instruction.parts, instruction.operands
        with np.errstate(all="ignore"):
            if parts[0] in ("ld", "st"):
                self.move(parts, operands, at)
            elif handler := HANDLERS.get(parts[0]):
                handler(self, parts, operands, at)
            else:
                raise NotImplementedError(instruction.text)

    def move(self, parts: list[str], operands: list[str], at: np.ndarray) -> None:
        dtype, store = DTYPES[parts[-1]], parts[0] == "st"
        registers, place = (operands[1], operands[0]) if store else operands
        names = [n.strip() for n in registers.strip("{}").split(",")]
        address = self.address(place, at)
        if "shared" in parts:
            address = address + SHARED
        if "param" in parts and (address >> 40 == 0).all():
            address = address + PARAM
        self.count_sectors(address, dtype.itemsize * len(names), at)
        for i, name in enumerate(names):
            value = self.read(name, parts[-1], at) if store else None
            loaded = self.access(address + i * dtype.itemsize, dtype, at, value)
            if not store:
                self.write(name, loaded, at)


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


def logic(function: Callable) -> Callable:
    def run(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
        a, b = (m.read(o, parts[-1], at) for o in operands[1:3])
        m.write(operands[0], function(a, b), at)

    return run


def shift(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    value = m.read(operands[1], parts[-1], at)
    bits = 8 * value.dtype.itemsize
    by = m.read(operands[2], "u32", at)
    amount = np.minimum(by, bits - 1).astype(value.dtype)
    moved = value << amount if parts[0] == "shl" else value >> amount
    gone = np.zeros_like(value) if value.dtype.kind == "u" or parts[0] == "shl" else moved
    m.write(operands[0], np.where(by >= bits, gone, moved), at)


def move(m: Machine, parts: list[str], operands: list[str], at: np.ndarray) -> None:
    if operands[0].startswith("{"):  # the halves of a word
        low, high = (o.strip() for o in operands[0].strip("{}").split(","))
        word = m.read(operands[1], "u64", at)
        m.write(low, word.astype("u4"), at)
        m.write(high, (word >> np.uint64(32)).astype("u4"), at)
    elif operands[1].startswith("{"):
        low, high = (
            m.read(o.strip(), "u32", at).astype("u8") for o in operands[1].strip("{}").split(",")
        )
        m.write(operands[0], low | high << np.uint64(32), at)
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
    source = {
        "bfly": lane ^ by,
        "idx": low | (by & ~segment),
        "down": lane + by,
        "up": lane - by,
    }[parts[2]]
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
    "and": logic(np.bitwise_and),
    "or": logic(np.bitwise_or),
    "xor": logic(np.bitwise_xor),
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
