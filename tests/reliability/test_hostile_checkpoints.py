# SPDX-License-Identifier: MIT
"""A checkpoint is data from a stranger: every tensor and every number that this run could not have
written is refused by one line that names its place, before it is used."""

import copy
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from reliability.tiny_run import tiny_config
from training.test_resume import assert_same_run

from svmf.errors import RunError
from svmf.training import continue_run, evaluate_run, make_config, start_run

State = dict[str, Any]


def moment(change: Callable[[torch.Tensor], Any], name: str = "exp_avg") -> Callable[[State], None]:
    def apply(state: State) -> None:
        moments = state["optimizer"]["state"][0]
        moments[name] = change(moments[name])

    return apply


def put(path: str, value: Any) -> Callable[[State], None]:
    """Replaces one entry; `a.0.b` is state["a"][0]["b"]."""

    def apply(state: State) -> None:
        *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = state
        for key in way:
            place = place[key]
        place[last] = value

    return apply


def drop(path: str) -> Callable[[State], None]:
    def apply(state: State) -> None:
        *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = state
        for key in way:
            place = place[key]
        del place[last]

    return apply


def weight(change: Callable[[torch.Tensor], Any], part: str = "model") -> Callable[[State], None]:
    def apply(state: State) -> None:
        name = next(iter(state[part]))
        state[part][name] = change(state[part][name])

    return apply


def flat_random(value: Any) -> Callable[[State], None]:
    return put("random.0.task", value)


CASES: dict[str, Callable[[State], None]] = {
    "moments of another shape": moment(lambda m: m[:1].clone()),
    "moments of no elements": moment(lambda m: m.new_zeros(0)),
    "larger moments": moment(lambda m: m.new_zeros(m.shape[0], m.shape[1] + 1)),
    "expanded moments": moment(lambda m: m.new_zeros(()).expand(m.shape)),
    "squares of another shape": moment(lambda m: m[:1].clone(), "exp_avg_sq"),
    "negative squares": moment(lambda m: m - 1, "exp_avg_sq"),
    "nan in the moments": moment(lambda m: m * math.nan),
    "infinite squares": moment(lambda m: m + math.inf, "exp_avg_sq"),
    "moments of another type": moment(lambda m: m.double()),
    "complex moments": moment(lambda m: m.to(torch.complex64)),
    "sparse moments": moment(lambda m: m.to_sparse()),
    "moments without data": moment(lambda m: torch.empty_like(m, device="meta")),
    "moments that are no tensor": moment(lambda m: m.tolist()),
    "step of another shape": moment(lambda s: s.expand(3).clone(), "step"),
    "step without an end": moment(lambda s: s + math.inf, "step"),
    "negative step": moment(lambda s: s * 0 - 1, "step"),
    "half a step": moment(lambda s: s * 0 + 0.5, "step"),
    "more steps than were made": moment(lambda s: s + 1e6, "step"),
    "no second moment": drop("optimizer.state.0.exp_avg_sq"),
    "one weight too many": put("optimizer.state.1000", {}),
    "betas of None": put("optimizer.param_groups.0.betas", None),
    "other betas": put("optimizer.param_groups.0.betas", (0.9, 2.0)),
    "another learning rate": put("optimizer.param_groups.0.lr", 1e30),
    "maximize": put("optimizer.param_groups.0.maximize", True),
    "amsgrad": put("optimizer.param_groups.0.amsgrad", True),
    "eps of nan": put("optimizer.param_groups.0.eps", math.nan),
    "no groups": put("optimizer.param_groups", []),
    "groups are a number": put("optimizer.param_groups", 3),
    "epoch inf": put("epoch", math.inf),
    "epoch nan": put("epoch", math.nan),
    "epoch 0": put("epoch", 0),
    "epoch true": put("epoch", True),
    "epoch far away": put("epoch", 2**70),
    "step behind the epoch": put("step", 10**6),
    "step is text": put("step", "1"),
    "complex sums": put("sums.0", torch.zeros(3, dtype=torch.complex128)),
    "sparse sums": put("sums.0", torch.zeros(3, dtype=torch.float64).to_sparse()),
    "sums of nan": put("sums.0", torch.full((3,), math.nan, dtype=torch.float64)),
    "float32 sums": put("sums.0", torch.zeros(3)),
    "no sums": put("sums", []),
    "weights of another shape": weight(lambda w: w[:1]),
    "weights of nan": weight(lambda w: w * math.nan),
    "weights in float64": weight(lambda w: w.double()),
    "sparse weights": weight(lambda w: w.to_sparse()),
    "weights without data": weight(lambda w: torch.empty_like(w, device="meta")),
    "best weights of nan": weight(lambda w: w * math.nan, "best"),
    "best weights of another shape": weight(lambda w: w[:1], "best"),
    "no best weights": put("best", {}),
    "best score nan": put("stopping.best_score", math.nan),
    "best score inf": put("stopping.best_score", math.inf),
    "best score text": put("stopping.best_score", "1.0"),
    "best epoch to come": put("stopping.best_epoch", 100),
    "negative best epoch": put("stopping.best_epoch", -1),
    "waited for ages": put("stopping.waited", 10**9),
    "negative random word": flat_random([-1, 0, 0, 0, 0, 0]),
    "huge random word": flat_random([2**64, 0, 0, 0, 0, 0]),
    "too few random words": flat_random([0, 0, 0]),
    "random words of text": flat_random(["a"] * 6),
    "huge half of a random word": flat_random([1, 2, 3, 4, 1, 2**32]),
    "no random words": flat_random(None),
    "random state of another length": put("random.0.noise.cpu", torch.zeros(3, dtype=torch.uint8)),
    "random state of floats": put("random.0.noise.cpu", torch.zeros(5056)),
    "random state of garbage": put(
        "random.0.noise.cpu", torch.full((5056,), 255, dtype=torch.uint8)
    ),
    "metrics length 0": put("metrics_length", 0),
    "metrics length 1": put("metrics_length", 1),
    "metrics length nan": put("metrics_length", math.nan),
    "processes 0": put("processes", 0),
    "processes of text": put("processes", "1"),
}


@pytest.mark.parametrize("change", CASES.values(), ids=CASES)
def test_what_this_run_cannot_have_written_is_refused(
    change: Callable[[State], None], run: Path
) -> None:
    path = run / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    change(state)
    torch.save(state, path)
    metrics = (run / "metrics.jsonl").read_bytes()
    with pytest.raises(RunError) as caught:
        continue_run(run, {"epochs": 3})
    text = str(caught.value)
    assert text.startswith(str(run))
    assert "\n" not in text
    assert len(text) < 400
    assert (run / "metrics.jsonl").read_bytes() == metrics, "a refusal changes nothing"


def test_messages_have_one_style(run: Path) -> None:
    path = run / "checkpoint.pt"
    whole = torch.load(path, weights_only=True)
    for change, message in (
        (CASES["moments of another shape"], r"optimizer\.state\.0\.exp_avg: expected a float32"),
        (CASES["epoch inf"], "epoch: expected an integer of at least 1, got inf"),
        (CASES["maximize"], r"optimizer\.param_groups\.0\.maximize: expected False, got True"),
        (CASES["best score nan"], r"stopping\.best_score: expected a finite number"),
    ):
        state = copy.deepcopy(whole)
        change(state)
        torch.save(state, path)
        with pytest.raises(RunError, match=rf"checkpoint\.pt: does not fit this run: {message}"):
            continue_run(run)


@pytest.mark.parametrize(
    "garbage",
    [b"garbage\n", b"[]\n", b"\xff\xfe\n", b'{"epoch": 7}\n', b"[" * 100_000 + b"\n", b"\x00\n"],
)
def test_garbage_in_the_metrics(run: Path, garbage: bytes) -> None:
    """Of the right length, too."""
    path = run / "metrics.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    for line in (garbage, garbage[:-1][: len(first)].ljust(len(first)) + b"\n"):
        path.write_bytes(line + rest)
        with pytest.raises(RunError, match=r"metrics\.jsonl") as caught:
            continue_run(run, {"epochs": 3})
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


def test_checkpoint_of_another_configuration(run: Path, finished: Path, tmp_path: Path) -> None:
    """The two files of a run belong together."""
    images = finished.parent / "images"
    start_run(
        make_config("svae", data=str(images), dim=2, hidden=(10,), batch_size=20, epochs=2,
                    look_ahead=0, threads=1, lr=0.5),
        tmp_path / "other",
    )  # fmt: skip
    shutil.copy(tmp_path / "other" / "checkpoint.pt", run / "checkpoint.pt")
    with pytest.raises(RunError, match=r"made with lr 0\.5, but config\.json says 0\.001"):
        continue_run(run, {"epochs": 3})
    with pytest.raises(RunError, match=r"made with lr 0\.5, but config\.json says 0\.001"):
        evaluate_run(run, samples=0)


def test_evaluation_checks_the_best_weights(run: Path) -> None:
    path = run / "checkpoint.pt"
    whole = torch.load(path, weights_only=True)
    for name in ("best weights of nan", "best weights of another shape", "best epoch to come"):
        state = copy.deepcopy(whole)
        CASES[name](state)
        torch.save(state, path)
        with pytest.raises(RunError, match="does not fit this run"):
            evaluate_run(run, samples=0)


def test_what_was_written_is_taken(run: Path, finished: Path, tmp_path: Path) -> None:
    """The checks refuse nothing of our own: a continued run equals an uninterrupted one."""
    images = finished.parent / "images"
    start_run(tiny_config(images, 4), tmp_path / "whole")
    continue_run(run, {"epochs": 4})
    assert_same_run(tmp_path / "whole", run)
