# SPDX-License-Identifier: MIT
"""What the row kernels for float32 and float16 issue and touch per row, counted by running nvcc's
PTX in the interpreter of tools/ptx.py.

    python tools/cuda_counts.py                 # compiles with nvcc and prints the table

*instructions*: PTX instructions that a warp issues, divided by the rows. *sectors*: pieces of 32
bytes of global memory that a warp's loads and stores name, each once per instruction; *least*:
what every vector and number once, side by side, would be. Launches are those of an A100.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cuda_launches import PROCESSORS, _symbols, emulator
from cuda_report import demangled, short_name, table
from ptx import Kernel, Machine, parse

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ["-O3", "--fmad=false", "-std=c++17", "-DSVMF_ISA=isa_cuda", f"-I{ROOT / 'csrc'}"]
SHAPES = ((8192, 10), (8192, 128))


def compile_ptx(unit: str, arch: str = "compute_80", compiler: str = "nvcc") -> dict[str, Kernel]:
    """The kernels of one file of csrc/cuda/kernels by their short names."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.ptx"
        source = ROOT / "csrc" / "cuda" / "kernels" / f"{unit}.cu"
        command = [compiler, "-ptx", f"-arch={arch}", *FLAGS, str(source), "-o", str(out)]
        subprocess.run(command, check=True)
        return by_short_name(out.read_text())


def by_short_name(text: str) -> dict[str, Kernel]:
    kernels = parse(text)
    names = demangled("\n".join(kernels)).splitlines()
    return {short_name(n): k for n, k in zip(names, kernels.values(), strict=True)}


@dataclass
class Described:
    """A launch as the emulation describes it: the kernel's short name, and its parameters with the
    driver's addresses in them."""

    kernel: str
    grid: int
    block: int
    shared: int
    params: list[bytes]
    addresses: dict[str, list[int]]


def describe(cases: list[emulator.Case]) -> list[Described]:
    program = emulator.build("asan")
    with tempfile.TemporaryDirectory() as folder:
        output = emulator.run(program, cases, Path(folder), {"SVMF_EMULATION_REPORT": "1"})
    symbols, described = _symbols(program), []
    addresses: dict[str, list[int]] = {}
    for line in output.splitlines():
        word, *rest = line.split()
        if word != "launch":
            number = 0 if rest[0] == "(nil)" else int(rest[0], 16)
            addresses.setdefault(word, []).append(number)
            continue
        at, block, shared, grid, *params = rest
        raw = [bytes.fromhex(p) for p in params]
        name = short_name(symbols[int(at)])
        described.append(Described(name, int(grid), int(block), int(shared), raw, addresses))
        addresses = {}
    return described


def launch(case: emulator.Case, described: Described, kernels: dict[str, Kernel]) -> Machine:
    """Runs a case in the interpreter and fills in its results."""
    kernel = kernels[described.kernel]
    arrays = [(a, None if v is None else np.ascontiguousarray(v, case.input_type(i)).ravel())
              for i, (a, v) in enumerate(zip(described.addresses.get("in", []), case.inputs,
                                             strict=True))]  # fmt: skip
    outputs = [(a, None if n is None else np.full(n, np.nan, case.output_type(i)))
               for i, (a, n) in enumerate(zip(described.addresses.get("out", []), case.outputs,
                                              strict=True))]  # fmt: skip
    seed = [(a, np.array([case.integers[3]], "i8").view("f4")) for a in
            described.addresses.get("seed", [])]  # fmt: skip
    memory, moved, places = [np.zeros(64, "u1")], {}, []
    for address, array in [*arrays, *outputs, *seed]:
        if array is None:
            places.append(None)
            continue
        start = sum(len(piece) for piece in memory)
        moved[address] = start
        places.append((start, array.nbytes))
        data = np.zeros((array.nbytes + 255) // 256 * 256 + 256, "u1")  # as torch's allocator
        data[: array.nbytes] = array.view("u1")
        memory += [data]
    memory[0] = np.zeros(256, "u1")
    shift = 256 - 64
    moved = {a: s + shift for a, s in moved.items()}
    flat = np.concatenate(memory)
    params = [_relocate(p, moved) for p in described.params]
    sizes = list(kernel.params.values())
    params = [p[:n].ljust(n, b"\0") for p, n in zip(params, sizes, strict=True)]
    machine = Machine(kernel, described.grid, described.block, described.shared, params, flat)
    machine.run()
    case.results = []
    for i, place in enumerate(places[len(arrays) : len(arrays) + len(outputs)]):
        if place is None:
            case.results.append(None)
        else:
            start, length = place[0] + shift, place[1]
            case.results.append(flat[start : start + length].view(case.output_type(i)).copy())
    return machine


def _relocate(raw: bytes, moved: dict[int, int]) -> bytes:
    data = bytearray(raw)
    for at in range(0, len(data) - 7, 8):
        word = int.from_bytes(data[at : at + 8], "little")
        if word in moved:
            data[at : at + 8] = moved[word].to_bytes(8, "little")
    return bytes(data)


def sampler_cases(rows: int, m: int, dtype: str = "float32") -> tuple[emulator.Case, emulator.Case]:
    rng = np.random.default_rng(1)
    loc = rng.standard_normal((rows, m))
    loc /= np.linalg.norm(loc, axis=1, keepdims=True)
    kappa = np.full(rows, float(m))
    forward = emulator.Case("vmf_sample", dtype, (1, rows, m, 5), (), (loc, kappa),
                            (rows * m, rows, rows, rows))  # fmt: skip
    below = rng.uniform(0.2, 0.8, rows)
    backward = emulator.Case("vmf_sample_backward", dtype, (1, rows, m, 0), (),
                             (loc, kappa, None, loc, below, 2 - below, loc, kappa),
                             (rows * m, rows))  # fmt: skip
    for case in (forward, backward):
        case.processors = PROCESSORS
    return forward, backward


def vector_cases(rows: int, m: int, dtype: str = "float32") -> tuple[emulator.Case, ...]:
    """The reflection, its backward pass, and a log density."""
    loc = sampler_cases(rows, m, dtype)[0].inputs[0]
    kappa = np.full(rows, float(m))
    cases = (
        emulator.Case("householder", dtype, (rows, m), (), (loc, loc), (rows * m,)),
        emulator.Case("householder_backward", dtype, (rows, m), (), (loc, loc, loc),
                      (rows * m, rows * m)),
        emulator.Case("vmf_log_prob", dtype, (rows, m), (), (loc, loc, kappa), (rows,)),
    )  # fmt: skip
    for case in cases:
        case.processors = PROCESSORS
    return cases


@dataclass(frozen=True)
class Counted:
    """A name for the page; vectors of m and single numbers per row that must be read or written,
    and numbers of the state."""

    name: str
    vectors: int
    numbers: int
    state: int = 0


OPS = {
    "vmf_sample": Counted("`vmf_rsample_kl`", 2, 2, 2),
    "vmf_sample_backward": Counted("its backward, pathwise", 4, 3, 2),
    "householder": Counted("`householder`", 3, 0),
    "householder_backward": Counted("its backward", 5, 0),
    "vmf_log_prob": Counted("`vmf_log_prob`", 2, 2),
}
UNITS = ("vmf_sample", "vmf_sample_backward", "householder", "vmf_log_prob")


def least_sectors(case: emulator.Case, m: int) -> float:
    op = OPS[case.op]
    size = 2 if case.dtype == "float16" else 4
    return (size * (op.vectors * m + op.numbers) + 4 * op.state) / 32


def compile_all() -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    for unit in UNITS:
        kernels |= compile_ptx(unit)
    return kernels


def counts(kernels: dict[str, Kernel]) -> str:
    rows_of_table = []
    for dtype, (rows, m) in itertools.product(("float32", "float16"), SHAPES):
        cases = [*sampler_cases(rows, m, dtype), *vector_cases(rows, m, dtype)]
        for case, described in zip(cases, describe(cases), strict=True):
            machine = launch(case, described, kernels)
            rows_of_table.append(
                [OPS[case.op].name, dtype, f"{rows} x {m}", f"{machine.instructions / rows:.0f}",
                 f"{machine.sectors / rows:.1f}", f"{least_sectors(case, m):.1f}"]
            )  # fmt: skip
    head = ["op", "type", "rows x m", "instructions per row", "sectors per row", "least sectors"]
    return table(head, rows_of_table)


def main() -> int:
    files = [a for a in sys.argv[1:] if a.endswith(".ptx")]
    kernels: dict[str, Kernel] = {}
    for file in files:
        kernels |= by_short_name(Path(file).read_text())
    print(counts(kernels or compile_all()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
