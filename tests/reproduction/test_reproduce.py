# SPDX-License-Identifier: MIT
"""`python -m reproduction all --quick` from end to end, and the parts that tables are made of."""

import json
import math
import shutil
import statistics
from pathlib import Path

import pytest
import scipy.stats
import torch

import reproduction.__main__
import svmf.cli
from reproduction.__main__ import main
from reproduction.catalogue import EXPERIMENTS
from reproduction.estimators import MARGIN, common_target, epochs_to
from reproduction.markdown import difference_interval, markdown_table, mean_spread, verdict, welch
from reproduction.mnist import DIMS, ESTIMATOR_DIMS, estimator_jobs, table_jobs
from reproduction.paper import TABLE1, TABLE2, TABLE3, TABLE4, TABLE4_SETTINGS, TABLE5
from reproduction.record import Job, Workspace, read_results, run_jobs
from reproduction.training_job import cut_note, was_cut
from svmf.data import CircleSet, make_circle

TABLES = (
    "fig1", "table1", "table2", "table3", "table4", "table5", "estimators", "beyond", "sc-vae",
)  # fmt: skip
FIGURES = (
    "fig1", "latent-nvae", "latent-svae", "manifold-nvae", "manifold-svae", "samples-nvae-d2",
    "samples-svae-d5", "analogies-m1m2", "latent-cora-nvgae", "latent-cora-svgae", "surface-area",
)  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_everything_quickly(here, data_dir, monkeypatch, capsys):
    monkeypatch.setenv("SVMF_DATA", str(data_dir))
    assert main(["all", "--quick"]) == 0
    first = capsys.readouterr().out
    assert first.count("done in") > 20
    for name in TABLES:
        text = (here / "results-quick" / f"{name}.md").read_text()
        assert text.startswith("# ")
        assert text.count("\n|") > 2
    for name in FIGURES:
        path = here / "results-quick" / "figures" / f"{name}.png"
        assert path.read_bytes()[:4] == b"\x89PNG", name
    for path in (here / "results-quick").glob("*/*.json"):
        result = json.loads(path.read_text())
        assert result["seconds"] >= 0
        if "best_epoch" in result:  # a training run
            assert result["training_seconds"] > 0
        assert set(result["versions"]) >= {"svmf", "torch", "python"}
    # a second call repeats nothing
    assert main(["all", "--quick"]) == 0
    assert "running" not in capsys.readouterr().out
    # a lost result is made again, and only that one
    (here / "results-quick" / "links" / "cora-svgae-appendix-fixed-seed0.json").unlink()
    shutil.rmtree(here / "runs")
    assert main(["table4", "--quick"]) == 0
    assert capsys.readouterr().out.count("running") == 1


def test_any_cell_can_be_run_alone(here, capsys):
    assert main(["table1", "--quick", "--dims", "3"]) == 0
    path = here / "results-quick" / "mnist" / "svae-d3-seed0.json"
    result = json.loads(path.read_text())
    command = result["command"].split()
    assert command[:3] == ["svmf", "train", "svae"]
    assert svmf.cli.main([*command[1:], "--out", "alone", "--quiet"]) == 0
    capsys.readouterr()
    assert svmf.cli.main(["evaluate", "alone", "--samples", "5", "--limit", "50", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["ll"] == result["figures"]["ll"], "the same bits"


def test_a_cut_run_is_continued_when_more_epochs_are_allowed(here, capsys):
    def epochs_after(*options):
        assert main(["table1", "--quick", "--dims", "3", *options]) == 0
        stored = (here / "results-quick" / "mnist" / "svae-d3-seed0.json").read_text()
        return json.loads(stored)["epochs"], capsys.readouterr().out.count("running")

    assert epochs_after("--epochs", "1") == (1, 2)
    table = (here / "results-quick" / "table1.md").read_text()
    assert "1 (1)† |" in table
    assert "† Runs were cut after 1 epochs" in table
    assert epochs_after("--epochs", "1") == (1, 0), "as far as this command allows"
    assert epochs_after() == (2, 2)
    metrics = here / "runs" / "reproduce-quick" / "mnist" / "svae-d3-seed0" / "run"
    assert len((metrics / "metrics.jsonl").read_text().splitlines()) == 2, "continued, not repeated"
    assert epochs_after("--epochs", "1") == (2, 0), "a longer run is kept"


def test_epochs_to_a_target_that_every_run_reaches():
    """By hand: means of five epochs 2, 3, 4 and 1.5, 3.5; the least far comes to 3.5."""
    fast = {"validation_scores": [2.0, 2.0, 2.0, 2.0, 2.0, 7.0, 7.0]}
    slow = {"validation_scores": [1.5, 1.5, 1.5, 1.5, 1.5, 11.5]}
    forgotten = {"epochs": 7}  # a result from before scores were kept
    runs = [fast, slow, forgotten]
    assert common_target(runs) == 3.5 - MARGIN == 3.0
    assert epochs_to(3.0, runs) == [6, 6]
    assert epochs_to(3.9, runs) == [7]
    assert common_target([forgotten]) is None


def test_a_run_that_ended_by_its_rule_is_not_cut():
    result = {"epochs": 70, "config": {"epochs": 1000, "look_ahead": 50}}
    assert (was_cut(result), cut_note([result])) == (False, "")
    for epochs, look_ahead, cut in ((1000, 50, True), (1200, 50, True), (1000, 0, False)):
        result = {"epochs": epochs, "config": {"epochs": 1000, "look_ahead": look_ahead}}
        assert was_cut(result) == cut


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table9",), "invalid choice"),
        (("table1", "--epochs", "0"), "--epochs: expected at least 1"),
        (
            ("fig1", "--epochs", "3"),
            "--epochs: only for table1, table1-released, table2, table3, estimators, beyond, "
            "sc-vae",
        ),
        (("table1", "--seeds", "0"), "--seeds: expected at least 1"),
        (("table1", "--dims", "0"), "--dims: expected dimensions of at least 1"),
        (("table3", "--dims", "5"), "pairs"),
    ],
)
def test_mistakes(here, capsys, arguments, message):
    try:
        code = main([*arguments])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_missing_data_skip_one_experiment_of_all(here, monkeypatch, capsys):
    monkeypatch.delenv("SVMF_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "empty"))
    few = {name: EXPERIMENTS[name] for name in ("table4", "table5")}
    monkeypatch.setattr(reproduction.__main__, "EXPERIMENTS", few)
    assert main(["all", "--quick"]) == 1
    assert "table4 skipped" in capsys.readouterr().err
    assert (here / "results-quick" / "table5.md").exists()
    assert main(["table4", "--quick"]) == 2


def test_a_run_is_claimed_once(tmp_path):
    workspace = Workspace(tmp_path / "results", tmp_path / "work", say=lambda text: None)
    calls = []

    def inner(folder: Path):
        calls.append("outer")
        # while this job runs, another process meets it
        assert not run_jobs([Job("e", "k", lambda folder: calls.append("second") or {})], workspace)
        return {"value": 1}

    assert run_jobs([Job("e", "k", inner)], workspace)
    assert calls == ["outer"]
    assert [result["value"] for result in read_results(workspace, "e")] == [1]


def test_plan_is_the_papers():
    workspace = Workspace(Path("r"), Path("w"))
    jobs = table_jobs(workspace, 3)
    assert len({job.key for job in jobs}) == 3 * 2 * len(DIMS)
    keys = {job.key for job in estimator_jobs(workspace, 1)}
    assert {"svae-corrected-d5-seed0", "svae-rejection-d10-seed0", "psvae-d2-seed0"} <= keys
    assert "svae-corrected-d2-seed0" not in keys
    assert set(ESTIMATOR_DIMS) == {2, 5, 10}
    assert set(TABLE1) == set(TABLE2) == {(m, d) for m in ("nvae", "svae") for d in DIMS}
    assert len(TABLE3) == 9
    assert set(TABLE4) == set(TABLE4_SETTINGS)
    assert all(len(row) == 9 for row in TABLE5.values())
    # the paper's ELBO is RE - KL, to its rounding
    for _, elbo, re, kl in TABLE1.values():
        assert elbo[0] == pytest.approx(re[0] - kl[0], abs=0.03)


def test_welch_and_verdict():
    first, second = [1.0, 1.2, 0.9, 1.1], [2.0, 2.3, 1.9, 2.2, 2.1]
    expected = scipy.stats.ttest_ind(first, second, equal_var=False).pvalue
    assert welch(first, second) == pytest.approx(expected)
    assert verdict(first, second).startswith("**S**")
    assert verdict(second, first).startswith("**N**")
    assert verdict(first, [1.0, 1.3, 0.8, 1.1]).startswith("p = ")
    assert welch([1.0], second) is None
    assert verdict([1.0], second) == "–"
    assert welch([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert welch([1.0, 1.0], [2.0, 2.0]) == 0.0


def test_difference_interval():
    first, second = [1.0, 1.2, 0.9, 1.1], [1.3, 1.5, 1.05]
    expected = scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    mean = statistics.mean(first) - statistics.mean(second)
    text = f"{mean:+.2f} ({expected.low:.2f} to {expected.high:.2f})"
    assert difference_interval(first, second) == text
    assert difference_interval(first, [1.0]) == difference_interval([], second) == "–"
    assert difference_interval([2.0, 2.0], [1.0, 1.0]) == "+1.00 (1.00 to 1.00)"


def test_table_text():
    values = [1.0, 2.0, 4.0]
    text = mean_spread(values, 1)
    assert text == f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f} (3)"
    assert mean_spread([], 1) == "–"
    assert mean_spread([2.0], 1) == "2.0 (1)"
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_circle_score_of_perfect_and_useless_models():
    """Codes that are the true circle and a decoder that is the true curve score one; codes in
    disorder and a decoder off the curve score zero."""
    from svmf.demo.circle import CIRCLE_MODELS, score_circle
    from svmf.training import make_config
    from svmf.training.processes import Processes
    from svmf.training.run import make_task
    from svmf.training.vae_task import CIRCLE_POINTS

    config = make_config("svae", data="circle", dim=1, seed=0, threads=1)
    task = make_task(config, Processes("cpu"))
    circle = make_circle(CIRCLE_POINTS, 0)

    class Encoder(torch.nn.Module):
        def forward(self, x):
            angle = circle.angles[2500 : 2500 + len(x)]
            return torch.stack([angle.cos(), angle.sin(), torch.full_like(angle, 1e6)], dim=1)

    class Decoder(torch.nn.Module):
        def forward(self, z):
            turn = torch.remainder(torch.atan2(z[:, 1], z[:, 0]) / (2 * math.pi), 1)
            return circle.curve[(turn * len(circle.curve)).long() % len(circle.curve)]

    task.model.encoder, task.model.decoder = Encoder(), Decoder()
    perfect = score_circle(CIRCLE_MODELS[-1], task, circle)
    assert perfect.correlation > 0.999
    assert perfect.on_curve == 1.0
    shuffled = circle.angles[torch.randperm(CIRCLE_POINTS)]
    moved = CircleSet(circle.points, shuffled, circle.clusters, circle.curve + 100)
    useless = score_circle(CIRCLE_MODELS[-1], task, moved)
    assert useless.score < 0.01
