# SPDX-License-Identifier: MIT
"""Trials on M1+M2: each changes what it says, and the table has them in order."""

import json
from pathlib import Path

import pytest
import torch

from reproduction.record import Workspace
from reproduction.table3_trials import TRIALS, Trial, TrialTask, main, style_kl, table
from svmf.training import make_config
from svmf.training.processes import Processes


def make(model="m1m2-ss", **changes):
    config = make_config(model, data="digits", dim=2, dim2=2, hidden=(16,), labelled_batch=20)
    torch.manual_seed(0)
    return TrialTask(config, Processes("cpu"), Trial("", model, **changes))


def test_every_trial_runs_and_is_in_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["--quick"]) == 0
    paths = sorted(Path("results-quick/m1m2-trials").glob("*.json"))
    assert {path.stem for path in paths} == set(TRIALS)
    first = json.loads(paths[0].read_text())
    assert {"elbo", "accuracy", "kl_z2"} <= set(first["epochs"][0])
    rows = table(Workspace(Path("results-quick"), Path())).splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(TRIALS)
    assert main(["ss-nonsense"]) == 2


def test_every_label_is_known_in_the_first_epochs():
    task = make(all_labels=1)
    train = task.images.train
    task.begin_epoch(1)
    seen = []
    for step in range(task.steps):
        _, x, labels = task.batch(step)
        index = task._known_order[step * 20 : (step + 1) * 20]
        assert torch.equal(labels, train.labels[index])
        assert not x[train.images[index] == 0].any()
        assert x[train.images[index] == 255].all()
        seen.append(index)
    assert len(torch.cat(seen).unique()) == 20 * task.steps > 100
    task.begin_epoch(2)
    _, x, labels = task.batch(0)
    assert torch.equal(labels, task._labels[task._labelled_order[:20]])


def test_entropy_weighs_in_training_and_only_at_first():
    task = make(entropy=3.0, entropy_epochs=1)
    z1 = task.model.latent1.prior_sample(5)
    log_q = torch.log_softmax(torch.randn(5, 10), -1)

    def value():
        torch.manual_seed(1)
        return task.model._sum_over_labels(z1, log_q)

    task.begin_epoch(1)
    task.model.train()
    weighted, first = value(), task.variant
    plain = task.model.eval()._sum_over_labels
    torch.manual_seed(1)
    entropy = -(log_q.exp() * log_q).sum(-1)
    torch.testing.assert_close(weighted - plain(z1, log_q), 2 * entropy)
    task.begin_epoch(2)
    assert task.variant != first
    task.model.train()
    torch.testing.assert_close(value() + 2 * entropy, weighted)


def test_the_label_may_come_from_the_image():
    task = make(from_image=True)
    x = torch.rand(4, task.images.pixels)
    expected = task.model.classifier.network(x).argmax(-1)
    assert torch.equal(task.model.classify(x), expected)


def test_draws_repeat_images():
    task = make(draws=2)
    task.begin_epoch(1)
    unlabelled, labelled, labels = task.batch(0)
    for rows in (unlabelled, labelled, labels):
        first, second = rows.chunk(2)
        assert torch.equal(first, second)


@pytest.mark.parametrize("model", ["m1m2-ss", "m1m2-sn"])
def test_style_kl_is_the_mean_over_labels(model):
    """A head of z2 that ignores its input gives every image and label the same KL."""
    task = make(model)
    head = task.model.encoder2.head
    with torch.no_grad():
        head.weight.zero_()
        head.bias.copy_(torch.arange(len(head.bias)) / 3 + 0.1)
    kl = task.model.latent2.draw(task.model.latent2.posterior(head.bias.detach().unsqueeze(0))).kl
    found = style_kl(task.model, torch.rand(7, task.images.pixels))
    assert found == pytest.approx(kl.item(), rel=1e-5)
