# SPDX-License-Identifier: MIT
"""`python -m benchmarks`: options, tables, plots, JSON, Ctrl-C and one-line errors."""

import functools
import json
from pathlib import Path

import pytest
import torch
from helpers.benches import MISTAKES, interrupt_the_third_case, use_sweeps
from helpers.commands import TORCH_ALONE, python, run
from helpers.paths import PROJECT

from benchmarks import laboratory, measure_goals
from benchmarks.__main__ import main
from benchmarks.graph_epochs import measure_graph
from benchmarks.report import LaboratoryReport
from benchmarks.training_models import epoch_overhead
from svmf.benchmarking.cases import Shape

PNG = b"\x89PNG\r\n\x1a\n"


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def small_sweeps(monkeypatch):
    """Two values of each quantity, at shapes that take no time."""
    use_sweeps(monkeypatch, "m", "rows", "samples", "threads", "kappa", "dtype")


bench = functools.partial(run, program=main)


def test_help_has_examples(capsys):
    code, out, _ = bench(capsys, "--help")
    assert code == 0
    assert "python -m benchmarks --quick" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--op", "fly"), "--op: expected one of sample, step"),
        *MISTAKES,
        (("--shape", "12x1"), "--shape: expected at least one row and m of at least 2"),
        (("--kappa", "many"), "argument --kappa: invalid float value"),
        (("--minutes", "-2"), "--minutes: expected a positive number"),
        (("--minima",), "--minima: needs --goals"),
        (("--goals", "--op", "step"), "--goals: goes without"),
        (("--wings",), "unrecognized arguments: --wings"),
    ],
)
def test_mistakes_give_one_line_and_exit_code_two(capsys, arguments, message):
    code, _, err = bench(capsys, *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_no_cuda_device(capsys):
    code, _, err = bench(capsys, "--device", "cuda")
    assert (code, "no CUDA device is available" in err) == (2, True)


def test_one_op_one_shape(capsys):
    code, out, err = bench(
        capsys, "--op", "step", "--shape", "8x3", "--kappa", "1", "50", "--dtype", "float64",
        "--seconds", "0.01", "--json", "new/bench.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    for part in ("instruction set", "torch", "commit", "| 8 x 3", "float64", "/ Normal'", "spread"):
        assert part in out
    assert "Sample, forward" not in out
    document = json.loads(Path("new/bench.json").read_text())
    assert document["schema"] == 1
    assert document["environment"].keys() >= {"cpu", "instruction set", "torch", "commit"}
    assert [entry["case"]["kappa"] for entry in document["sampling"]] == [1.0, 50.0]
    ours = document["sampling"][0]["candidates"]["svmf"]
    assert ours["samples_per_second"] == pytest.approx(8 / ours["median"])
    assert ours["ns_per_element"] == pytest.approx(ours["median"] / 24 * 1e9)
    assert ours.keys() >= {"median", "low_quartile", "high_quartile", "smallest", "first", "blocks"}
    assert not Path("bench_output").exists()


@pytest.mark.usefixtures("small_sweeps")
def test_everything_quickly(capsys, monkeypatch):
    monkeypatch.setattr(measure_goals, "QUICK_SHAPES", [Shape(1, 8, 3)])
    # these two start processes of their own, and have tests of their own
    memory = {"op": "step", "shape": "4 x 3", "candidate": "svmf"}
    memory |= {"bytes_per_element": 8.0, "times_output": 2.0}
    monkeypatch.setattr(laboratory.memory, "measure_memory", lambda shapes, device: [memory])
    first = {"what": "import torch", "first": 1.0, "later": None}
    monkeypatch.setattr(laboratory, "measure_first_call", lambda: [first])
    code, out, err = bench(
        capsys, "--quick", "--seconds", "0.005", "--json", "bench.json", "--out", "plots"
    )
    assert (code, err) == (0, "")
    for title in (
        "## Sample, forward", "## Sample + KL + backward", "## How cost grows",
        "## Functions without randomness", "## A whole training step", "## Peak memory",
        "## First call", "## Goals", "not installed",
    ):  # fmt: skip
        assert title in out
    names = ("sample", "step", "growth", "special")
    assert sorted(Path("plots").iterdir()) == sorted(Path(f"plots/bench-{n}.png") for n in names)
    assert all(path.read_bytes()[:8] == PNG for path in Path("plots").iterdir())
    document = json.loads(Path("bench.json").read_text())
    assert {line["quantity"] for line in document["growth"]} == {"rows", "m", "samples", "threads"}
    assert document["training"]["S-VAE"]["median"] > 0
    assert document["goals"]
    assert document["interrupted"] is False


def test_named_functions(capsys):
    code, out, _ = bench(capsys, "--op", "iv_ratio", "--quick", "--seconds", "0.01")
    assert code == 0
    assert "| iv_ratio" in out
    assert "log_iv " not in out
    assert "plot" not in out


def test_goals_at_one_shape(capsys):
    code, out, _ = bench(
        capsys, "--goals", "--shape", "8x3", "--kappa", "5", "--minima", "--seconds", "0.01",
        "--json", "goals.json",
    )  # fmt: skip
    assert code == 0
    assert "(8 x 3, kappa 5)" in out
    assert "| 8 x 3    |     5 |" in out  # the table shape by shape
    assert "minima" in out
    assert {"goal", "values", "limits", "met"} <= json.loads(
        Path("goals.json").read_text()
    )["goals"][0].keys()  # fmt: skip


@pytest.mark.usefixtures("small_sweeps")
def test_interruption_prints_what_there_is(capsys, monkeypatch):
    interrupt_the_third_case(monkeypatch)
    code, out, err = bench(capsys, "--seconds", "0.005", "--json", "bench.json")
    assert code == 130
    assert "| 4 x 2" in out
    assert "interrupted; the tables show what was measured" in err
    document = json.loads(Path("bench.json").read_text())
    assert document["interrupted"] is True
    assert len(document["sampling"]) == 2


@pytest.mark.usefixtures("small_sweeps")
def test_time_is_bounded(capsys):
    code, out, _ = bench(capsys, "--op", "sample", "--minutes", "1e-6")
    assert code == 0
    assert "time is short" in out


def test_plots_without_matplotlib(capsys, monkeypatch):
    def missing(report, folder):
        raise ModuleNotFoundError(name="matplotlib")

    monkeypatch.setattr(LaboratoryReport, "plots", missing)
    code, out, _ = bench(capsys, "--op", "sample", "--shape", "4x3", "--seconds", "0.005")
    assert code == 0
    assert "plots: skipped, the package matplotlib is not installed" in out


def test_memory_of_a_small_shape_is_not_measured(capsys):
    code, out, _ = bench(capsys, "--op", "memory", "--shape", "4x3")
    assert code == 0
    assert "memory: skipped, needs 262144 elements or more" in out


BARE_PROGRAM = f"""{TORCH_ALONE}
sys.path.insert(0, sys.argv.pop(1))
from benchmarks.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_runs_with_torch_alone():
    """svmf depends on torch only; whatever else the benchmarks could use costs a line."""
    chosen = ["--op", "step", "log_iv", "training", "--shape", "4x3", "--quick"]
    command = ["-W", "ignore", "-c", BARE_PROGRAM, str(PROJECT), *chosen, "--seconds", "0.005"]
    finished = python(*command)
    for line in (
        "reference: skipped, the package numpy is not installed",
        "training step: skipped, the package numpy is not installed",
        "plots: skipped, the package matplotlib is not installed",
    ):
        assert line in finished.stdout
    assert "| 4 x 3" in finished.stdout
    assert "| log_iv" in finished.stdout


def test_epoch_overhead_is_a_share():
    assert 0 < epoch_overhead(1) < 0.6


def test_graphs_without_data_say_why():
    found = measure_graph("cora", 200, 2, 1)
    assert isinstance(found, str)
    assert found.startswith("S-VGAE on cora: skipped, ")


def test_graphs_are_timed(data_dir, monkeypatch):
    monkeypatch.setenv("SVMF_DATA", str(data_dir))
    found = measure_graph("cora", 20, 3, 1)
    assert not isinstance(found, str), found
    assert found.seconds > 0
    assert found.peak_bytes > 50e6
