# SPDX-License-Identifier: MIT
"""The tables of docs/cuda.md: resources of every kernel, bytes, instruction counts, and what they
say about an op's time. tools/update_tables.py puts them into the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_counts import compile_all, counts
from cuda_launches import DIMENSIONS, Launch, describe_launches
from cuda_report import DEVICES, Compiled, Device, is_half, span, table
from cuda_sass import Code, read_code

# Rounds of the rejection sampler for 32 rows: two out of three proposals are accepted or more, and
# waiting rows share the lanes.
ROUNDS = 3


def all_tables(kernels: Sequence[Compiled], folder: Path) -> str:
    launches = describe_launches()
    parts = [
        "### Resources",
        resources([k for k in kernels if not k.is_half], launches),
        half_types(kernels),
        "### Bytes",
        least_bytes(),
    ]
    codes = {
        device: {n: c for n, c in read_code(folder, device.arch).items() if not is_half(n)}
        for device in DEVICES
    }
    if not all(codes.values()):
        raise SystemExit("cuda_report: expected cuobjdump and nvdisasm on PATH for the tables")
    parts += [
        "### Rows, run",
        counts(compile_all()),
        "### Instructions",
        elementwise_instructions(codes[DEVICES[0]]),
        row_instructions(codes[DEVICES[0]]),
        "### Estimated times",
        estimated_times(codes, launches),
    ]
    return "\n\n".join(parts)


def family(name: str) -> tuple[str, str]:
    """A kernel without its function's number, and its type."""
    dtype = "float64" if "double" in name else "float32"
    if match := re.match(r"elements_kernel<(\w+)", name):
        return f"`{match[1]}`", dtype
    name = re.sub(r"\(SampleGradient\)0", "pathwise", name)
    name = re.sub(r"\(SampleGradient\)1", "rejection", name)
    name = name.replace("(Family)1", "spherical Cauchy").replace("(Family)2", "power spherical")
    name = name.replace(", Kl>", ", kl>").replace(", LogProb>", ", log_prob>")
    if name.startswith(("householder", "features")):
        name = name.replace("true", "backward").replace(", false", "")
    else:
        name = name.replace("true", "with kl").replace(", false", "")
    return f"`{re.sub(r'(float|double), ', '', name)}`", dtype


def resources(kernels: Sequence[Compiled], launches: Sequence[Launch]) -> str:
    archs = sorted({k.arch for k in kernels})
    groups: dict[tuple[str, str], list[Compiled]] = {}
    for k in kernels:
        groups.setdefault(family(k.name), []).append(k)
    head = ["kernel", "type", "threads", "shared, KB", *(f"registers {a}" for a in archs)]
    head += ["stack, B", "spills, B", *(f"occupancy {d.name}" for d in DEVICES)]

    def rows() -> Iterator[list[str]]:
        for (name, dtype), group in sorted(groups.items()):
            used = [u for u in launches if family(u.kernel) == (name, dtype)]
            registers = [span(k.registers for k in group if k.arch == arch) for arch in archs]
            shares = [_occupancies(group, used, device) for device in DEVICES]
            yield [
                name,
                dtype,
                span(u.threads for u in used),
                span(u.shared / 1024 for u in used),
                *registers,
                span(k.stack for k in group),
                span(k.spills for k in group),
                *(f"{span(100 * s for s in share)} %" for share in shares),
            ]

    return table(head, rows())


def half_types(kernels: Sequence[Compiled]) -> str:
    """What bfloat16 and float16 ask for beside float32."""
    wide = {(k.name, k.arch): k for k in kernels}
    more, stack = [], []
    for k in kernels:
        if k.is_half:
            twin = wide[re.sub(r"(Bf|F)loat16", "float", k.name), k.arch]
            more.append(k.registers - twin.registers)
            stack.append(k.stack - twin.stack)
    return (
        f"bfloat16 and float16: {len(more)} kernels and architectures, {min(more)} to {max(more)} "
        f"registers\nand {min(stack)} to {max(stack)} bytes of stack more than their float32 twins."
    )


def _occupancies(group: Sequence[Compiled], used: Sequence[Launch], device: Device) -> list[float]:
    registers = {k.name: k.registers for k in group if k.arch == device.arch}
    return [device.occupancy(registers[u.kernel], u.threads, u.shared) for u in used]


@dataclass(frozen=True)
class Op:
    """One op with float32: a name for the page, its launch, and the numbers that it must read and
    write per row: `numbers` of them, and `vectors` rows of m."""

    name: str
    launch: str
    kernel: str  # a part of its name
    vectors: int
    numbers: int
    outputs: int = 1  # vectors written in the loop over columns

    def bytes_per_row(self, m: int) -> int:
        return 4 * (self.vectors * m + self.numbers)


ROW_OPS = (
    Op("`householder`", "householder", "", 3, 0),
    Op("its backward", "householder_backward", "", 5, 0, 2),
    Op("`vmf_log_prob`", "vmf_log_prob", "", 2, 2),
    Op("`vmf_kl`", "vmf_kl", "", 2, 3),
    Op("`vmf_rsample`", "vmf_sample", "false>", 2, 3),
    Op("`vmf_rsample_kl`", "vmf_sample", "true>", 2, 4),
    Op("its backward, pathwise", "vmf_sample_backward", "(SampleGradient)0", 4, 5),
    Op("its backward, rejection", "vmf_sample_backward", "(SampleGradient)1", 4, 5),
)
ELEMENT_OPS = (
    ("functions of kappa", "FunctionOfKappa", 2),
    ("`vmf_concentration`", "Concentration", 2),
    ("`vmf_pathwise_derivative`", "PathwiseDerivative", 3),
    ("Bessel functions, one order with a table", "BesselOfTable", 2),
    ("Bessel functions, one order by recurrence", "BesselByRecurrence", 2),
    ("Bessel functions, an order per element", "BesselOfOrders", 3),
)


def least_bytes() -> str:
    def columns(op: Op) -> str:
        fixed = f" + {4 * op.numbers}" if op.numbers else ""
        return f"{4 * op.vectors} m{fixed}"

    rows = [(name, f"{4 * numbers}", f"{8 * numbers}") for name, _, numbers in ELEMENT_OPS]
    for op in ROW_OPS:
        text = columns(op)
        rows.append((op.name, text, re.sub(r"\d+", lambda n: str(2 * int(n[0])), text)))
    return table(["op", "float32, bytes per element or row", "float64"], rows)


def elementwise_instructions(codes: dict[str, Code]) -> str:
    def counts(function: str, dtype: str) -> str:
        return span(
            code.per_element
            for name, code in codes.items()
            if name.startswith(f"elements_kernel<{function}<") and f", {dtype}," in name
        )

    rows = [(name, counts(f, "float"), counts(f, "double")) for name, f, _ in ELEMENT_OPS]
    return table(["op", "float32, instructions per element", "float64"], rows)


def row_instructions(codes: dict[str, Code]) -> str:
    head = ["kernel", "type", "per row", "per round", "per step", "sum", "draw", "write"]

    def rows() -> Iterator[list[object]]:
        for name, code in sorted(codes.items(), key=lambda item: family(item[0])):
            if name.startswith("elements_kernel") or "RunTeam" in name:  # no loops over columns
                continue
            loops = code.tightest
            parts = [
                loops[kind].length if kind in loops else "" for kind in ("sum", "draw", "write")
            ]
            rounds = code.rounds.length if code.rounds else ""
            yield [*family(name), code.per_row, rounds, code.per_step, *parts]

    return table(head, rows())


def team_lanes(launch: Launch) -> int:
    """Threads that work on one row (csrc/cuda/kernels/tile_plan.h), float32."""
    if "BlockTeam" in launch.kernel:
        return launch.threads
    items = -(-(launch.m - 1) // 4) if launch.op == "vmf_sample" else -(-launch.m // 4)
    return min(32, 1 << (items - 1).bit_length())


def instructions_per_row(code: Code, launch: Launch) -> float:
    loops = code.tightest
    per_column = sum(loops[kind].length for kind in ("sum", "write") if kind in loops)
    blocks = -(-(launch.m - 1) // 4) if launch.m > 3 else 0
    drawn = blocks * loops["draw"].length if "draw" in loops else 0
    rounds = ROUNDS * code.rounds.length if code.rounds and launch.m != 3 else 0
    steps = team_lanes(launch) * code.per_step
    return code.per_row + rounds + steps + drawn + launch.m * per_column


def estimated_times(codes: dict[Device, dict[str, Code]], launches: Sequence[Launch]) -> str:
    """Per million rows or elements, float32: by bytes and by instructions."""
    head = ["op, float32", "m", *(f"{d.name}: bytes / instructions, µs" for d in DEVICES)]

    def cell(device: Device, size: float, instructions: float | None) -> str:
        by_bytes = 1e3 * size / device.bandwidth
        if instructions is None:  # of short rows, counted by running them
            return f"{by_bytes:.3g} / "
        by_issue = 1e3 * instructions / device.issue
        texts = [f"{t:.3g}" if t < 1000 else f"{t:.0f}" for t in (by_bytes, by_issue)]
        larger = 0 if by_bytes > by_issue else 1
        texts[larger] = f"**{texts[larger]}**"
        return " / ".join(texts)

    def rows() -> Iterator[list[object]]:
        for name, function, numbers in ELEMENT_OPS:
            cells = []
            for device in DEVICES:
                each = [
                    code.per_element
                    for kernel, code in codes[device].items()
                    if kernel.startswith(f"elements_kernel<{function}<") and ", float," in kernel
                ]
                cells.append(cell(device, 4 * numbers, sum(each) / len(each)))
            yield [name, "", *cells]
        for op in ROW_OPS:
            for m in DIMENSIONS:
                found = (
                    u
                    for u in launches
                    if (u.op, u.dtype, u.m) == (op.launch, "float32", m) and op.kernel in u.kernel
                )
                launch = next(found, None)
                if launch is None:  # m = 3 has the pathwise gradient alone
                    continue
                cells = [
                    cell(
                        d,
                        op.bytes_per_row(m),
                        None
                        if "RunTeam" in launch.kernel
                        else instructions_per_row(codes[d][launch.kernel], launch),
                    )
                    for d in DEVICES
                ]
                yield [op.name, m, *cells]

    return table(head, rows())
