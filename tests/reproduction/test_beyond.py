# SPDX-License-Identifier: MIT
"""The comparison of posteriors: its plan, its choice by validation, its table, runs cut short."""

import json
from pathlib import Path

import pytest

from reproduction import beyond
from reproduction.__main__ import main
from reproduction.mnist import DIMS
from reproduction.record import Workspace
from svmf.training.latent_words import parse_latent


def test_the_plan():
    workspace = Workspace(Path("r"), Path("w"))
    keys = [job.key for job in beyond.jobs(workspace, 3)]
    assert len(keys) == len(set(keys))
    for dim in DIMS:
        names = ("n", "vmf", "vmf-sqrt", "vmf-learned", "ps", "cauchy")
        assert {f"{name}-d{dim}-seed2" for name in names} <= set(keys)
    assert {"flow-d2-seed0", "s10x4-d40-seed1", "s5x8-d40-seed0", "s5x2-d10-seed0"} <= set(keys)
    assert not any("-d100-" in key for key in keys)
    assert any(job.key == "s10x10-d100-seed0" for job in beyond.jobs(workspace, 1, [100]))
    for dim, splits in beyond.SPLITS.items():
        assert all(sum(d for _, d in parse_latent(words)) == dim for words in splits)


def write(folder, key, ll, *, validation=None, epochs=40, allowed=40, dim=40, exact=None):
    result = {
        "key": key,
        "config": {"dim": dim, "epochs": allowed, "look_ahead": 50},
        "epochs": epochs,
        "best_epoch": epochs,
        "best_validation": ll if validation is None else validation,
        "training_seconds": 2.0 * epochs,
        "figures": {"ll": ll, "elbo": ll - 3, "kl": 20.0},
    }
    if exact is not None:
        result["figures"]["ll_exact"] = exact
    (folder / "beyond").mkdir(parents=True, exist_ok=True)
    (folder / "beyond" / f"{key}.json").write_text(json.dumps(result))


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path, tmp_path)


def test_validation_chooses_and_the_test_set_judges(workspace):
    for seed, shift in enumerate((-0.1, 0.0, 0.1)):
        write(workspace.results, f"n-d40-seed{seed}", -90 + shift)
        write(workspace.results, f"vmf-d40-seed{seed}", -95 + shift, validation=-99)
        write(workspace.results, f"s10x4-d40-seed{seed}", -92 + shift, validation=-97)
    write(workspace.results, "s5x8-d40-seed0", -80, validation=-80)
    found = beyond.runs_of(workspace)
    choice = beyond.chosen_of(found, 40)
    assert choice is not None
    assert choice[0].key == "s10x4", "one lucky run does not choose"
    text = beyond.render(workspace).read_text()
    among = "2 with 3 runs; ahead with fewer: product s5x8"
    row = f"| 40 | product s10x4 | {among} | -92.00 ± 0.10 (3)† | -90.00 ± 0.10 (3) | -2.00 ("
    assert row in text
    assert "**N**, p = " in text
    rows, _ = beyond.compare(workspace)
    by_title = {row["posterior"]: row for row in rows}
    assert by_title["N"]["p"] == by_title["N"]["LL less N"] == "–"
    assert by_title["product s5x8"]["LL less N"] == "+10.00", "no interval from one run"
    assert by_title["product s5x8"]["p"] == "–"
    assert by_title["vMF"]["seconds per epoch"] == "2.0 ± 0.0 (3)"


def test_a_cut_run_is_marked_and_compared_with_cut_runs_alone(workspace):
    write(workspace.results, "n-d40-seed0", -88, epochs=300, allowed=2000)
    write(workspace.results, "vmf-d40-seed0", -96)
    rows, _ = beyond.compare(workspace)
    vmf = next(row for row in rows if row["posterior"] == "vMF")
    assert vmf["LL less N"] == "–"
    assert vmf["LL"] == "-96.00 (1)†"
    assert "cut after 40 epochs" in beyond.table(workspace)
    write(workspace.results, "n-d40-seed1", -91)
    rows, _ = beyond.compare(workspace)
    assert next(row for row in rows if row["posterior"] == "vMF")["LL less N"] == "-5.00"


def test_the_gap_where_the_exact_likelihood_is_known(workspace):
    for seed, shift in enumerate((-1.0, 1.0)):
        write(workspace.results, f"flow-d2-seed{seed}", -132 + shift, dim=2, exact=-130 + shift)
    write(workspace.results, "vmf-d2-seed0", -134, dim=2)
    text = beyond.gap_table(workspace)
    row = "-135.00 ± 1.41 (2) | -132.00 ± 1.41 (2) | -130.00 ± 1.41 (2) | 5.00 ± 0.00 (2) |"
    assert f"| 2 | flow over vMF† | {row}" in text
    assert "vMF |" not in text
    assert "## The posterior's gap" in beyond.render(workspace).read_text()


def test_nothing_yet(workspace):
    assert beyond.render(workspace).read_text().startswith("# Beyond the paper")


def test_only_some_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["beyond", "--quick", "--dims", "2", "--epochs", "1", "--only"]
    assert main([*options, "s1x2-d*", "flow-*"]) == 0
    names = {path.name for path in (tmp_path / "results-quick" / "beyond").iterdir()}
    assert names == {"s1x2-d2-seed0.json", "flow-d2-seed0.json"}
    for name in names:
        result = json.loads((tmp_path / "results-quick" / "beyond" / name).read_text())
        assert "ll_exact" in result["figures"]
        assert "--latent" in result["command"]
