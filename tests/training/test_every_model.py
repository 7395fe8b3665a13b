# SPDX-License-Identifier: MIT
"""A tiny configuration of every model trains, leaves a complete run folder and can be evaluated."""

import json
import math

import pytest
import torch

from svmf._gradients import GRADIENTS, PATHWISE
from svmf.models import LATENTS
from svmf.training import MODELS, RunFolder, evaluate_run, make_config, start_run

FIGURES = {
    "vae": {"elbo", "re", "kl", "knn"},
    "semi-supervised": {"elbo", "re", "kl", "accuracy"},
    "graph": {"auc", "ap"},
}
MODELS_AND_GRADIENTS = [
    (model, gradient)
    for model, spec in MODELS.items()
    for gradient in GRADIENTS
    if gradient == PATHWISE or "spherical" in spec.latents
]


@pytest.mark.parametrize(("model", "gradient"), MODELS_AND_GRADIENTS)
def test_train_and_evaluate(model, gradient, options, tmp_path):
    config = make_config(model, **options(model, gradient=gradient))
    outcome = start_run(config, tmp_path / "run")
    assert outcome.finished
    assert outcome.epoch == 2
    folder = RunFolder(tmp_path / "run")
    assert folder.read_config() == config
    records = folder.read_metrics()
    assert [record["epoch"] for record in records] == [1, 2]
    for record in records:
        for value in [*record["train"].values(), *record["validation"].values()]:
            assert math.isfinite(value)
    state = torch.load(folder.checkpoint_path, weights_only=True)
    assert state["epoch"] == 3
    figures = evaluate_run(tmp_path / "run", samples=3, label_draws=2)
    assert FIGURES[MODELS[model].kind] <= set(figures)
    spec = MODELS[model]
    assert ("ll" in figures) == (spec.kind == "vae" and LATENTS[spec.latents[0]].has_density)
    assert json.loads(json.dumps(figures)) == figures
    leftovers = {path.name for path in folder.path.iterdir()}
    assert leftovers == {"config.json", "metrics.jsonl", "timing.jsonl", "checkpoint.pt", ".lock"}


def test_improbable_labels_are_left_out_once_there_are_some(options, tmp_path):
    """At first every label is taken; the figures stay those of the whole sum."""
    same = options("m1m2-nn", epochs=20, lr=0.01)
    for name, tolerance in (("whole", 0.0), ("part", 0.01)):
        start_run(make_config("m1m2-nn", label_tolerance=tolerance, **same), tmp_path / name)
    whole, part = (RunFolder(tmp_path / name).read_metrics() for name in ("whole", "part"))
    assert whole[0] == part[0]
    assert whole[-1] != part[-1]
    for name in ("elbo", "accuracy"):
        wanted = whole[-1]["validation"][name]
        assert part[-1]["validation"][name] == pytest.approx(wanted, rel=0.05)


def test_evaluation_is_a_function_of_the_run(options, tmp_path):
    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    first = evaluate_run(tmp_path / "run", samples=5)
    torch.manual_seed(99)
    assert evaluate_run(tmp_path / "run", samples=5) == first


def test_same_seed_same_bits_other_seed_other_bits(options, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        start_run(make_config("svae", **options("svae", seed=seed)), tmp_path / name)
    a, b, c = ((tmp_path / name / "metrics.jsonl").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_real_training_improves_and_early_stopping_keeps_the_best(tmp_path, tiny_images):
    config = make_config(
        "svae", data=tiny_images, dim=2, batch_size=20, hidden=(16,), lr=0.01, warm_up=0,
        epochs=200, look_ahead=3, threads=1,
    )  # fmt: skip
    outcome = start_run(config, tmp_path / "run")
    scores = [r["validation"]["elbo"] for r in RunFolder(tmp_path / "run").read_metrics()]
    assert outcome.epoch < 200, "it stopped by itself"
    assert scores[-1] > scores[0]
    assert outcome.best_score == max(scores)
    assert outcome.best_epoch == scores.index(max(scores)) + 1
    assert outcome.epoch == outcome.best_epoch + 3
    assert evaluate_run(tmp_path / "run", samples=0)["best_epoch"] == outcome.best_epoch


def test_warm_up_reaches_the_loss(options, tmp_path):
    config = make_config("svae", **options("svae", warm_up=4, epochs=5, beta=2.0))
    start_run(config, tmp_path / "run")
    betas = [record["beta"] for record in RunFolder(tmp_path / "run").read_metrics()]
    assert betas == [0.5, 1.0, 1.5, 2.0, 2.0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("more", [{}, {"radius": "sqrt"}], ids=["plain", "buffers"])
def test_compile_gives_the_same_curve(options, more, tmp_path):
    for name, compiled in (("eager", False), ("compiled", True)):
        config = make_config("svae", **options("svae", compile=compiled, **more))
        start_run(config, tmp_path / name)
    eager, compiled = (
        RunFolder(tmp_path / name).read_metrics()[-1]["validation"]["elbo"]
        for name in ("eager", "compiled")
    )
    assert compiled == pytest.approx(eager, rel=1e-3)


def test_circle_trains(tmp_path):
    config = make_config("svae", data="circle", dim=1, epochs=1, threads=1)
    start_run(config, tmp_path / "run")
    assert math.isfinite(evaluate_run(tmp_path / "run", samples=2)["ll"])
