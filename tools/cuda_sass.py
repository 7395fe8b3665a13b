# SPDX-License-Identifier: MIT
"""Instruction counts of the CUDA kernels, from the machine code that cuobjdump shows.

Counts are static: instructions that stand in the code, each counted once. A loop is a branch
backwards. The parts of a row kernel (csrc/cuda/kernels/team.cuh):
  row      what is done once per row, with lane = row
  rounds   the proposals of the rejection sampler: the loop that votes
  step     one row for every team: the loop around
  columns  the loops over a row's columns: sum, draw (a Philox block), write
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cuda_report import demangled, short_name

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,6})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)\S*([^;]*);")
DOUBLE = ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX")
# A Philox block with its normals is longer than any other loop over columns; what else is as long
# is none. Two of its words are an exclusive or of three in every round.
DRAW_LENGTH, DRAW_LOGIC = 120, 20


@dataclass(frozen=True)
class Loop:
    begin: int
    end: int
    counts: Counter

    def __hash__(self) -> int:
        return hash((self.begin, self.end))

    def holds(self, other: Loop) -> bool:
        return self != other and self.begin <= other.begin and other.end <= self.end

    @property
    def length(self) -> int:
        return self.counts.total()

    @property
    def double(self) -> int:
        return sum(self.counts[name] for name in DOUBLE)

    @property
    def draws(self) -> bool:
        return self.length >= DRAW_LENGTH and self.counts["LOP3"] >= DRAW_LOGIC and not self.votes

    @property
    def votes(self) -> bool:
        return self.counts["VOTE"] + self.counts["VOTEU"] > 0


@dataclass(frozen=True)
class Code:
    """One kernel: how many instructions, and its loops."""

    length: int
    loops: tuple[Loop, ...]

    @cached_property
    def innermost(self) -> list[Loop]:
        return [a for a in self.loops if not any(a.holds(b) for b in self.loops)]

    @cached_property
    def rounds(self) -> Loop | None:
        voting = [a for a in self.innermost if a.votes and a.counts["MUFU"]]
        return max(voting, key=lambda a: a.length, default=None)

    @cached_property
    def columns(self) -> list[Loop]:
        """Loops that draw columns, or read and write global memory column by column; an array that
        is only cleared belongs to calls without samples."""
        return [
            a for a in self.innermost
            if a.draws or (a.counts["LDG"] and a.length < DRAW_LENGTH and a != self.rounds)
        ]  # fmt: skip

    def _kind(self, loop: Loop) -> str:
        if loop.draws:
            return "draw"
        return "write" if loop.counts["STG"] else "sum"

    @cached_property
    def tightest(self) -> dict[str, Loop]:
        """One loop over columns of each kind: nvcc may write several versions."""
        kinds = {self._kind(loop) for loop in self.columns}
        return {
            kind: min((a for a in self.columns if self._kind(a) == kind), key=lambda a: a.length)
            for kind in sorted(kinds)
        }

    @cached_property
    def step(self) -> Loop:
        inside = self.tightest.values()
        around = [a for a in self.loops if all(a.holds(b) for b in inside)]
        return min(around, key=lambda a: a.length)

    @property
    def per_step(self) -> int:
        """Instructions of a step that are in no loop over columns."""
        inner = [a for a in self.innermost if self.step.holds(a)]
        return self.step.length - sum(a.length for a in inner)

    @property
    def per_row(self) -> int:
        """Instructions outside of steps, rounds and other innermost loops: once per row at most,
        with lane = row."""
        apart = [a for a in self.innermost if not self.step.holds(a)]
        return self.length - self.step.length - sum(a.length for a in apart)

    @cached_property
    def per_element(self) -> float:
        """Of an elementwise kernel: the grid's loop around the polynomials, else the loop without
        any. nvcc may unroll it."""
        storing = [a for a in self.loops if a.counts["STG"]]
        around = [a for a in storing if a not in self.innermost]
        return min(a.length / a.counts["STG"] for a in around or storing)


def _read_function(text: str) -> Code:
    code = [(int(at, 16), name, rest) for at, name, rest in INSTRUCTION.findall(text)]
    code = [entry for entry in code if entry[1] != "NOP"]
    back = set()
    for at, name, rest in code:
        target = re.search(r"0x([0-9a-f]+)", rest) if name == "BRA" else None
        if target and int(target[1], 16) < at:
            back.add((int(target[1], 16), at))
    loops = (
        Loop(begin, end, Counter(name for at, name, _ in code if begin <= at <= end))
        for begin, end in sorted(back)
    )
    return Code(len(code), tuple(loops))


def read_bodies(folder: Path, arch: str) -> dict[str, str]:
    """The machine code of every kernel, as text, by name; empty if there is no cuobjdump."""
    if shutil.which("cuobjdump") is None:
        return {}
    bodies = {}
    for path in sorted(folder.rglob("*.cu.o")):
        command = ["cuobjdump", "--dump-sass", "--gpu-architecture", arch, path]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        parts = [part.partition("\n") for part in text.split("Function : ")[1:]]
        symbols = "\n".join(symbol.strip() for symbol, _, _ in parts)
        for name, (_, _, body) in zip(demangled(symbols).splitlines(), parts, strict=True):
            bodies[short_name(name)] = body
    return bodies


def read_code(folder: Path, arch: str) -> dict[str, Code]:
    """Kernels by name; empty if there is no cuobjdump."""
    return {name: _read_function(body) for name, body in read_bodies(folder, arch).items()}
