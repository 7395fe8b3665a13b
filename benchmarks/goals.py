# SPDX-License-Identifier: MIT
"""Every goal of speed that the project has set itself, as lines "goal, figure, limit"."""

from collections.abc import Mapping, Sequence

from benchmarks import training_step
from benchmarks.goal_lines import GoalLine
from benchmarks.graph_epochs import GraphRun
from benchmarks.peers import BY_NAME, class_calls
from benchmarks.special import KL, LOG_IV, SpecialTiming
from svmf.benchmarking.cases import Case, Shape
from svmf.benchmarking.timing import Timing, choose_clock, threads, time_interleaved

# data, epochs of the goal, epochs that are run, seconds, bytes
GRAPHS = (("cora", 200, 200, 20.0, None), ("pubmed", 400, 20, 600.0, 2e9))
_SMALL_BATCH = Case("step", Shape(1, 64, 10))


def special_goals(timings: Sequence[SpecialTiming], statistic: str) -> list[GoalLine]:
    double = GoalLine("KL with derivative, float64", "SciPy's ive", "m = 3 to 128", 1 / 50)
    single = GoalLine("KL with derivative, float32", "SciPy's ive", "m = 3 to 128", 1 / 50)
    bessel = GoalLine("log I_v, float64", "log of SciPy's ive", "v = 0 to 127", 1 / 20)
    for timing in timings:
        place = f"{timing.parameter} = {timing.value:g}"
        limit = timing.ratio("copy", "SciPy", statistic)
        for op, name, line in (
            (KL, "float64", double), (KL, "float32", single), (LOG_IV, "float64", bessel),
        ):  # fmt: skip
            ratio = timing.ratio(name, "SciPy", statistic)
            if timing.op == op.name and ratio is not None:
                line.add(ratio, place, limit)
    return [double, single, bessel]


def measure_class_step(seconds: float, cpu_time: bool = False) -> dict[str, Timing]:
    """The latent part of a step as users of torch.distributions write it, at a small batch."""
    calls = {
        name: BY_NAME[name].calls["step"](_SMALL_BATCH) for name in ("class", "Normal", "copy")
    }
    calls["class'"] = class_calls(False)["step"](_SMALL_BATCH)
    with threads(1):
        return time_interleaved(calls, seconds=seconds, clock=choose_clock(cpu_time))


def class_goals(timings: Mapping[str, Timing], statistic: str) -> list[GoalLine]:
    times = {name: getattr(timing, statistic) for name, timing in timings.items()}
    step = GoalLine(
        "VonMisesFisher: construct, rsample, KL, backward", "Normal, 1 thread", "64 x 10", 0.6
    )
    step.add(times["class"] / times["Normal"], limit=times["copy"] / times["Normal"])
    share = GoalLine("validation's share of it", "itself", "64 x 10", 0.5, "%")
    share.add(max(0.0, 1 - times["class'"] / times["class"]), limit=0.0)
    return [step, share]


def training_goals(
    timings: Mapping[str, Timing], overhead: float | None, statistic: str
) -> list[GoalLine]:
    times = {name: getattr(timing, statistic) for name, timing in timings.items()}
    ours, limit = times[training_step.OURS], times[training_step.LIMIT]
    where = f"batch {training_step.BATCH}, d = {training_step.DIM}"
    lines = []
    for name, goal in ((training_step.NORMAL, 1.0), (training_step.REFERENCE, 1 / 3)):
        if name in times:
            line = GoalLine("S-VAE training step", name, where, goal)
            line.add(ours / times[name], limit=limit / times[name])
            lines.append(line)
    if overhead is not None:
        line = GoalLine("S-VAE epoch beyond forward, backward, Adam", "the epoch", where, 0.1, "%")
        line.add(overhead, limit=0.0)
        lines.append(line)
    return lines


def graph_goals(runs: Sequence[GraphRun]) -> list[GoalLine]:
    lines = []
    for run in runs:
        _, _, _, seconds, most_bytes = next(g for g in GRAPHS if g[0] == run.data)
        where = f"{run.epochs} epochs"
        if run.measured < run.epochs:
            where += f", from {run.measured}"
        line = GoalLine(f"S-VGAE on {run.data.capitalize()}", "the clock", where, seconds, "s")
        line.add(run.seconds)
        lines.append(line)
        if most_bytes is not None:
            memory = GoalLine(line.what, "peak memory", where, most_bytes / 1e9, "GB")
            memory.add(run.peak_bytes / 1e9)
            lines.append(memory)
    return lines
