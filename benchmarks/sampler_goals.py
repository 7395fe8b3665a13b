# SPDX-License-Identifier: MIT
"""The sampler's goals: every shape, concentration and competitor of its table, with the largest
ratio that is good."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.goal_lines import GoalLine
from benchmarks.peers import BY_NAME
from svmf.benchmarking.cases import TITLES, Case, Shape
from svmf.benchmarking.report import ratio_of, ratio_text, table
from svmf.benchmarking.sampler import SLOW_ELEMENTS, measure
from svmf.benchmarking.timing import Timing

BATCHES = (64, 1024, 8192)
DIMENSIONS = (2, 3, 5, 10, 20, 40, 64, 128, 512)
SHAPES = [*(Shape(1, batch, m) for batch in BATCHES for m in DIMENSIONS), Shape(500, 64, 10)]
QUICK_SHAPES = [
    Shape(1, 64, 10), Shape(1, 1024, 5), Shape(1, 1024, 64), Shape(1, 8192, 2), Shape(1, 8192, 128),
    Shape(500, 64, 10),
]  # fmt: skip
KAPPAS = (1.0, 50.0, 5000.0)

# (where, which shapes, the largest ratio that is good); the first that fits counts.
Bound = tuple[str, Callable[[Shape], bool], float]


def _large(shape: Shape) -> bool:
    return shape.m >= 64 and shape.rows >= 1024


def _small(shape: Shape) -> bool:
    return shape.rows == 64


def _any(shape: Shape) -> bool:
    return True


_LARGE, _SMALL, _OTHER = "m >= 64 and 1024 rows or more", "64 rows", "other shapes"


@dataclass(frozen=True)
class Column:
    """One comparison. `ours` and `theirs` are (op, candidate, threads)."""

    title: str
    ours: tuple[str, str, int]
    theirs: tuple[str, str, int]
    bounds: Sequence[Bound]

    @property
    def limit(self) -> tuple[str, str, int]:
        return self.ours[0], "copy", self.ours[2]

    def bound(self, shape: Shape) -> Bound | None:
        return next((bound for bound in self.bounds if bound[1](shape)), None)


def _column(title: str, op: str, theirs: str, count: int, bounds: Sequence[Bound]) -> Column:
    return Column(title, (op, "svmf", count), (op, theirs, count), bounds)


_TWENTIETH: Sequence[Bound] = [("every shape", _any, 0.05)]
COLUMNS = [
    _column("fwd/Normal 2t", "sample", "Normal", 2,
            [(_LARGE, _large, 0.25), (_SMALL, _small, 0.7), (_OTHER, _any, 0.5)]),
    _column("fwd/Normal' 1t", "sample", "Normal'", 1,
            [(_LARGE, _large, 0.4), (_SMALL, _small, 1.5), (_OTHER, _any, 1.0)]),
    _column("fwd/randn 1t", "sample", "randn", 1,
            [(_LARGE, _large, 0.5),
             ("other, m >= 10 and 1024 rows or more",
              lambda s: s.m >= 10 and s.rows >= 1024, 1.5)]),
    _column("step/Normal 2t", "step", "Normal", 2, [(_LARGE, _large, 0.25), (_OTHER, _any, 0.6)]),
    _column("step/Normal' 1t", "step", "Normal'", 1, [(_LARGE, _large, 0.35), (_OTHER, _any, 1.0)]),
    _column("step/reference 1t", "step", "reference", 1, _TWENTIETH),
    _column("step/published 1t", "step", "published", 1, _TWENTIETH),
    Column("fwd 2t/1t", ("sample", "svmf", 2), ("sample", "svmf", 1),
           [("64k elements or more", lambda s: s.elements >= 65536, 1 / 1.7)]),
]  # fmt: skip

_FAST = ("svmf", "Normal", "Normal'", "randn", "copy")
_SLOW = ("svmf", "reference", "published")


@dataclass
class Cell:
    """All that was measured at one shape and kappa, by (op, candidate, threads)."""

    shape: Shape
    kappa: float
    timings: dict[tuple[str, str, int], Timing] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        times = {
            f"{op}, {candidate}, {threads} threads": asdict(timing)
            for (op, candidate, threads), timing in self.timings.items()
        }
        ratios = dict(self.ratios)
        return {"shape": str(self.shape), "kappa": self.kappa, "ratios": ratios, "times": times}


def measure_cell(
    shape: Shape,
    kappa: float,
    seconds: float,
    statistic: str = "median",
    *,
    slow: bool = True,
    cpu_time: bool = False,
) -> Cell:
    """`seconds` for each group of competitors; plain Python only if `slow`. With `cpu_time` what
    runs on one thread is not comparable with what runs on two, and is not compared."""
    cell = Cell(shape, kappa)
    slow_times: dict[tuple[str, str, int], Timing] = {}
    for op in TITLES:
        for count in (1, 2):
            case = Case(op, shape, kappa, threads=count)
            _take(cell.timings, case, _FAST, seconds, cpu_time)
    if slow and shape.elements <= SLOW_ELEMENTS:
        _take(slow_times, Case("step", shape, kappa), _SLOW, seconds, cpu_time)
    for column in COLUMNS:
        if cpu_time and column.ours[2] != column.theirs[2]:
            continue
        # plain Python is timed in a group of its own, with svmf in it
        group = slow_times if column.theirs[1] in _SLOW[1:] else cell.timings
        ratio = ratio_of(group.get(column.ours), group.get(column.theirs), statistic)
        if ratio is None:
            continue
        cell.ratios[column.title] = ratio
        limit = cell.timings.get(column.limit)
        theirs = group.get(column.theirs)
        if column.ours[2] != column.theirs[2]:
            cell.limits[column.title] = column.theirs[2] / column.ours[2]
        elif (share := ratio_of(limit, theirs, statistic)) is not None:
            cell.limits[column.title] = share
    for key, timing in slow_times.items():
        cell.timings.setdefault(key, timing)
    return cell


def _take(
    into: dict[tuple[str, str, int], Timing],
    case: Case,
    names: Iterable[str],
    seconds: float,
    cpu_time: bool,
) -> None:
    candidates = [BY_NAME[name] for name in names if BY_NAME[name].missing() is None]
    timings = measure(case, candidates, seconds=seconds, cpu_time=cpu_time)
    for name, timing in timings.items():
        into[case.op, name, case.threads] = timing


def sampler_goals(cells: Sequence[Cell]) -> list[GoalLine]:
    """One line for each column and bound."""
    lines = []
    for column in COLUMNS:
        op, _, count = column.ours
        if column.ours[2] == column.theirs[2]:
            against = f"{column.theirs[1]}, {count} thread{'s' if count > 1 else ''}"
        else:
            against = "itself, 2 threads to 1"
        for where, _, goal in column.bounds:
            line = GoalLine(TITLES[op], against, where, goal)
            for cell in cells:
                bound = column.bound(cell.shape)
                if bound is not None and bound[0] == where and column.title in cell.ratios:
                    place = f"{cell.shape}, kappa {cell.kappa:g}"
                    line.add(cell.ratios[column.title], place, cell.limits.get(column.title))
            lines.append(line)
    return lines


def cells_table(cells: Sequence[Cell]) -> str:
    """Every ratio, shape by shape; a star marks one that misses the goal of its column there."""

    def text(column: Column, cell: Cell) -> str:
        ratio, bound = cell.ratios.get(column.title), column.bound(cell.shape)
        missed = ratio is not None and bound is not None and ratio > bound[2]
        return ratio_text(ratio) + "*" * missed

    rows = [[str(c.shape), f"{c.kappa:g}", *(text(column, c) for column in COLUMNS)] for c in cells]
    return table(["rows x m", "kappa", *(column.title for column in COLUMNS)], rows)
