# SPDX-License-Identifier: MIT
"""An interpreter for the PTX that nvcc makes of our kernels that compute in float32: it runs a
launch on the CPU, and counts the instructions that the warps issue and the 32-byte sectors that
their loads and stores of global memory touch.

All threads of the grid advance together, as lanes of numpy arrays: the lowest instruction that any
thread waits at is next, for all that wait there. Warp functions and barriers are meeting points.
An fma is computed in float64 and rounded once more, so results may differ by a last bit.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from ptx_instructions import DTYPES, HANDLERS, PARAM, SHARED

REGISTER = re.compile(r"%(tmp|[a-z]+\d+)")
CLASSES = {"tmp": "u8", "p": "?", "rs": "u2", "f": "f4", "r": "u4", "rd": "u8", "fd": "f8"}
# What ptxas makes part of other instructions; so are loads of parameters.
FOLDED = ("mov", "cvta")


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
