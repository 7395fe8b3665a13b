# SPDX-License-Identifier: MIT
"""How the benchmarks measure: turns, shares of time, medians, fitted lines, tables, goals."""

import math

import pytest
import torch

from benchmarks.goal_lines import GoalLine, goals_table
from benchmarks.growth import fit_line, growth
from benchmarks.sampler_goals import COLUMNS, Cell, sampler_goals
from benchmarks.texts import time_text
from svmf.benchmarking.cases import Case, Shape, parse_shape, thread_counts, usual_cases
from svmf.benchmarking.report import count_text, headlines, ratio_text, sampling_table, table
from svmf.benchmarking.sampler import Measurement
from svmf.benchmarking.timing import Timing, threads, time_interleaved
from svmf.errors import ConfigError


class FakeClock:
    """Time passes only when a call says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def __call__(self) -> float:
        return self.now

    def call(self, name: str, *durations: float):
        """A call that takes the given times in turn, the last one from then on."""
        left = list(durations)

        def work() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]
            self.log.append(name)

        return work


def fixed_timing(seconds: float) -> Timing:
    return Timing(seconds, 0.9 * seconds, 1.1 * seconds, 0.8 * seconds, 5, 2 * seconds)


def test_the_first_call_stands_apart_and_the_median_is_of_the_rest():
    clock = FakeClock()
    timings = time_interleaved(
        {"a": clock.call("a", 5.0, 0.5), "b": clock.call("b", 0.25)},
        seconds=10.0, block_seconds=1e-3, clock=clock,
    )  # fmt: skip
    assert timings["a"].first == 5.0
    assert timings["a"].median == pytest.approx(0.5)
    assert timings["b"].median == pytest.approx(0.25)
    assert timings["b"].spread == pytest.approx(0.0)


def test_candidates_run_by_turns_and_a_slow_one_sits_out():
    clock = FakeClock()
    calls = {"slow": clock.call("slow", 1.0), "fast": clock.call("fast", 0.125)}
    timings = time_interleaved(calls, seconds=4.0, block_seconds=1e-3, least_blocks=2, clock=clock)
    turns = clock.log[4:]  # after two warm-up calls each
    assert [sorted(turns[i : i + 2]) for i in (0, 2)] == [["fast", "slow"]] * 2
    assert turns[4:] == ["fast"] * 14
    assert timings["slow"].blocks == 2
    assert timings["fast"].blocks == 16


def test_short_calls_are_timed_in_blocks():
    clock = FakeClock()
    timings = time_interleaved(
        {"a": clock.call("a", 1e-5)}, seconds=0.01, block_seconds=1e-3, clock=clock
    )
    assert timings["a"].median == pytest.approx(1e-5)
    assert timings["a"].blocks < len(clock.log) / 50


def test_a_call_that_raises_is_heard():
    def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        time_interleaved({"a": lambda: None, "b": broken}, seconds=0.001)


def test_a_block_on_a_gpu_ends_when_the_gpu_has_finished(monkeypatch):
    waits = []
    monkeypatch.setattr(torch.cuda, "synchronize", waits.append)
    timings = time_interleaved({"a": lambda: None}, seconds=0.001, device="cuda:1")
    assert set(waits) == {"cuda:1"}
    assert len(waits) >= 2 * timings["a"].blocks


def test_threads_are_restored():
    with threads(2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(
    ("text", "shape"), [("8192x64", Shape(1, 8192, 64)), ("500x64x10", Shape(500, 64, 10))]
)
def test_shapes(text, shape):
    assert parse_shape(text) == shape


@pytest.mark.parametrize("text", ["", "8192", "8192x", "8192x1", "0x10", "axb", "1x2x3x4", "-1x4"])
def test_bad_shapes(text):
    with pytest.raises(ConfigError, match="--shape: expected"):
        parse_shape(text)


def test_fitted_line_is_exact_on_a_line():
    x = [1.0, 10.0, 1000.0]
    assert fit_line(x, [20 + 3 * v for v in x]) == pytest.approx((20, 3))


def test_fitted_line_has_no_negative_part():
    assert fit_line([1.0, 2.0], [1.0, 3.0])[0] == 0.0
    fixed, slope = fit_line([1.0, 0.5], [2.0, 3.0])  # slower with two threads
    assert slope == 0.0
    assert 2 <= fixed <= 3


def test_growth_reads_the_sweeps():
    measurements = [
        Measurement(Case("sample", Shape(1, rows, 10)), "rows", {"svmf": fixed_timing(1 + rows)})
        for rows in (10, 100)
    ]
    (line,) = growth(measurements)
    assert (line.quantity, line.held, line.x) == ("rows", "m = 10", [10.0, 100.0])
    assert (line.fixed, line.slope, line.worst) == pytest.approx((1, 1, 0))


def test_sweeps_reach_the_ends_of_the_range():
    cases = [case for _, case in usual_cases(["step"], quick=False, device="cpu")]
    assert {case.shape.m for case in cases} >= {2, 4096}
    assert {case.shape.batch for case in cases} >= {1, 1_000_000}
    assert {case.kappa for case in cases} >= {0.1, 1e6}
    assert {case.dtype for case in cases} == {"float32", "float64"}
    assert thread_counts(6) == [1, 2, 4, 6]
    assert thread_counts(1) == [1]


def test_sampling_table_has_ratios_and_says_where_svmf_is_slower():
    timings = {"svmf": fixed_timing(2e-6), "randn": fixed_timing(1e-6)}
    measurements = [Measurement(Case("sample", Shape(1, 10, 2)), "m", timings)]
    text = sampling_table(measurements)
    assert "| 10 x 2" in text
    assert "/ randn" in text
    assert "2.00 |" in text
    assert headlines(measurements) == [
        "sample, forward / randn: 2.00 in the median of 1 cases, 2.00 to 2.00; slower in 1 "
        "(most at 10 x 2, float32)"
    ]


def test_goal_lines():
    line = GoalLine("what", "them", "here", 0.5)
    line.add(0.4, "a", 0.1)
    line.add(0.6, "b", 0.2)
    assert line.met == 1
    assert line.cells()[3:] == ["0.50", "0.50", "0.60 (b)", "1 of 2", "0.15"]
    assert goals_table([line]).count("\n") == 2
    assert GoalLine("", "", "", 0.1, "%").text(0.123) == "12.3%"
    assert GoalLine("", "", "", 20, "s").text(12.34) == "12.3 s"


def test_sampler_goals_put_each_shape_under_its_own_bound():
    cells = [Cell(Shape(1, 64, 10), 50.0), Cell(Shape(1, 8192, 64), 50.0)]
    for cell in cells:
        cell.ratios["fwd/Normal 2t"] = 0.3
    lines = [line for line in sampler_goals(cells) if line.values]
    assert [(line.scope, line.goal, line.met) for line in lines] == [
        ("m >= 64 and 1024 rows or more", 0.25, 0),
        ("64 rows", 0.7, 1),
    ]
    assert all(not math.isnan(bound[2]) for column in COLUMNS for bound in column.bounds)


def test_texts():
    assert [ratio_text(r) for r in (None, 1.234, 0.0951, 0.0123)] == ["-", "1.23", "0.10", "0.012"]
    assert [time_text(t) for t in (2.0, 0.00123, 4.2e-6, 3e-9)] == [
        "2 s", "1.23 ms", "4.2 us", "3 ns",
    ]  # fmt: skip
    assert count_text(1.5e6) == "1.5 M"
    assert table(["a", "b"], [["x", "1"]]).splitlines() == [
        "| a   |   b |", "| --- | --: |", "| x   |   1 |",
    ]  # fmt: skip
