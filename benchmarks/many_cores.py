# SPDX-License-Identifier: MIT
"""What would limit the sampler on many cores: a model, not a measurement.

The work is shared out as the op does it: blocks of 64 rows, at least a grain of elements per task,
at most one task per thread, all of the same size but the last. A call ends with its slowest task.
It takes the larger of that task's arithmetic, at the speed of one core, and the memory's traffic of
all. Starting and joining the threads and the call itself come on top.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from svmf.benchmarking.report import table
from svmf.cli import Parser

# As in csrc/cpu/vmf_sample.cpp.
BLOCK_ROWS = 64
ROW_COST = 8
SHAPES = ((1024, 64), (8192, 10), (8192, 64), (65536, 64), (65536, 1024))


@dataclass(frozen=True)
class Pass:
    """Forward or backward: its grain in elements, its bytes, and the arithmetic of a core."""

    grain: int
    bytes_per_element: int
    ns_per_row: float
    ns_per_element: float


# Arithmetic: one thread of an AVX2 core, from the tables of docs/performance.md, rounded.
FORWARD = Pass(8192, 8, 35.0, 2.6)
BACKWARD = Pass(16384, 16, 35.0, 2.7)


@dataclass(frozen=True)
class Machine:
    """Seconds of a further thread and of a call; bytes per second of all cores together."""

    join: float
    call: float
    bandwidth: float


def tasks(rows: int, m: int, threads: int, grain: int) -> tuple[int, int]:
    """How many tasks there are, and the rows of the largest."""
    blocks = math.ceil(rows / BLOCK_ROWS)
    least = max(1, grain // (BLOCK_ROWS * (m + ROW_COST)))
    count = min(threads, math.ceil(blocks / least))
    largest = math.ceil(blocks / count)
    return math.ceil(blocks / largest), min(rows, largest * BLOCK_ROWS)


def parts(machine: Machine, work: Pass, rows: int, m: int, threads: int) -> dict[str, float]:
    """The seconds of a call by what takes them; `grain`: arithmetic of fewer tasks than threads."""
    count, largest = tasks(rows, m, threads, work.grain)
    arithmetic = largest * (work.ns_per_row + m * work.ns_per_element) * 1e-9
    traffic = rows * m * work.bytes_per_element / machine.bandwidth
    slowest = "memory" if traffic > arithmetic else "grain" if count < threads else "arithmetic"
    return {
        "the call": machine.call,
        "joining threads": (count - 1) * machine.join,
        slowest: max(arithmetic, traffic),
    }


def report(machine: Machine, threads: Sequence[int]) -> str:
    rows_of_table = []
    for title, work in (("forward", FORWARD), ("backward", BACKWARD)):
        for rows, m in SHAPES:
            times = [parts(machine, work, rows, m, n) for n in (1, *threads)]
            alone, *shared = (sum(time.values()) for time in times)
            speedups = [f"{alone / time:.1f}" for time in shared]
            largest = max(times[-1], key=times[-1].__getitem__)
            rows_of_table.append([title, f"{rows} x {m}", *speedups, largest])
    head = ["pass", "rows x m", *(f"{n} threads" for n in threads), f"limit at {threads[-1]}"]
    return table(head, rows_of_table)


def main() -> None:
    parser = Parser(description=__doc__)
    add = parser.add_argument
    add("--threads", type=int, nargs="+", default=[2, 8, 64])
    add("--join", type=float, default=0.2, help="us to start and join one more thread (0.2)")
    add("--call", type=float, default=25.0, help="us of a call into torch (25)")
    add("--bandwidth", type=float, default=400.0, help="GB/s of all cores together (400)")
    args = parser.parse_args()
    if min(args.threads) < 1 or min(args.join, args.call) < 0 or args.bandwidth <= 0:
        parser.error("expected threads of at least 1, times not negative, a positive bandwidth")
    machine = Machine(args.join * 1e-6, args.call * 1e-6, args.bandwidth * 1e9)
    print(report(machine, args.threads))


if __name__ == "__main__":
    main()
