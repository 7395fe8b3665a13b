# SPDX-License-Identifier: MIT
"""Early stopping, warm-up, epoch order, configuration, random streams."""

import math

import pytest
import torch

from svmf.errors import ConfigError
from svmf.training.config import MODELS, config_from_json, make_config
from svmf.training.early_stopping import EarlyStopping, warm_up_weight
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, derived_seed, noise_from
from svmf.training.rows import BinarizedRows, EpochOrder
from svmf.training.semi_supervised_task import labels_to_take


def test_look_ahead():
    stopping = EarlyStopping(look_ahead=3)
    for epoch, score in enumerate([1.0, 2.0, 1.5, 1.9, 2.0], start=1):
        assert not stopping.exhausted
        stopping.update(epoch, score)
    assert stopping.exhausted, "an equal score is no improvement"
    assert (stopping.best_epoch, stopping.best_score) == (2, 2.0)


def test_warm_up_does_not_count_but_may_win():
    stopping = EarlyStopping(look_ahead=2, warm_up=10)
    stopping.update(1, 5.0)
    for epoch in range(2, 12):
        stopping.update(epoch, 0.0)
    assert not stopping.exhausted
    stopping.update(12, 0.0)
    assert stopping.exhausted
    assert stopping.best_epoch == 1


def test_never_without_look_ahead():
    stopping = EarlyStopping(look_ahead=0)
    for epoch in range(1, 1000):
        stopping.update(epoch, -math.inf)
    assert not stopping.exhausted


def test_warm_up_weight():
    assert [warm_up_weight(epoch, 4) for epoch in (1, 2, 4, 5)] == [0.25, 0.5, 1.0, 1.0]
    assert warm_up_weight(1, 0) == 1.0


@pytest.mark.parametrize(
    ("needed", "classes", "taken"),
    [(None, 10, None), (1, 10, 1.5), (1.5, 10, 2), (4, 10, 5), (9.9, 10, None), (2, 2, None)],
)
def test_labels_to_take(needed, classes, taken):
    assert labels_to_take(needed, classes) == taken


class Fixed(Processes):
    def __init__(self, rank, count):
        self.rank, self.count, self.device = rank, count, torch.device("cpu")


def test_order_covers_every_row_once():
    order = EpochOrder(103, 10, 7, Fixed(0, 1))
    assert order.steps == 11
    seen = []
    for epoch in (1, 2):
        order.begin_epoch(epoch)
        rows = torch.cat([order.batch(step) for step in range(order.steps)])
        assert sorted(rows.tolist()) == list(range(103))
        seen.append(rows.tolist())
    assert seen[0] != seen[1]


def test_processes_share_the_batches_of_one():
    alone = EpochOrder(100, 10, 7, Fixed(0, 1))
    ranks = [EpochOrder(100, 10, 7, Fixed(rank, 2)) for rank in (0, 1)]
    for order in (alone, *ranks):
        order.begin_epoch(3)
    for step in range(10):
        together = torch.cat([order.batch(step) for order in ranks])
        assert sorted(together.tolist()) == sorted(alone.batch(step).tolist())


def test_rows_in_chunks_by_stride():
    grey = torch.full((10, 3), 255, dtype=torch.uint8)
    rows = BinarizedRows(grey, torch.device("cpu"), 0)
    assert [len(chunk) for chunk in rows.chunks(3, start=1, stride=2)] == [3, 2]


def test_streams_differ_by_purpose_and_part():
    seeds = {derived_seed(purpose, a, b) for purpose in Purpose for a in range(5) for b in range(5)}
    assert len(seeds) == len(Purpose) * 25
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_inner_noise_does_not_disturb_the_outer():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    with noise_from(torch.device("cpu"), Purpose.TEST, 0):
        inner = torch.rand(2)
    assert torch.equal(torch.rand(3), expected)
    with noise_from(torch.device("cpu"), Purpose.TEST, 0):
        assert torch.equal(torch.rand(2), inner)


@pytest.mark.parametrize("model", MODELS)
def test_configuration_survives_its_file(model):
    config = make_config(model, hidden=(3, 4), clip=1.5, data_root="/data")
    assert config_from_json(config.to_json(), "here") == config


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("svae", {"dim": 0}, "--dim: expected a latent dimension of at least 1, got 0"),
        ("svae", {"dim": 10**7}, "--dim"),
        ("svae", {"lr": 0.0}, "--lr"),
        ("svae", {"lr": math.nan}, "--lr"),
        ("svae", {"batch_size": 0}, "--batch-size"),
        ("svae", {"epochs": 0}, "--epochs"),
        ("svae", {"gradient": "wrong"}, "--gradient"),
        ("nvae", {"gradient": "corrected"}, "needs a von Mises-Fisher latent"),
        ("svae", {"beta": -1.0}, "--beta"),
        ("svae", {"hidden": (0,)}, "--hidden"),
        ("svae", {"threads": 0}, "--threads"),
        ("svae", {"seed": -1}, "--seed"),
        ("svae", {"clip": 0.0}, "--clip"),
        ("svgae", {"dropout": 1.0}, "--dropout"),
        ("m1m2-sn", {"dim2": 0}, "--dim2"),
        ("m1m2-sn", {"labels": 0}, "--labels"),
        ("m1m2-sn", {"label_tolerance": 1.0}, "--label-tolerance"),
        ("svae", {"validation_rows": 0}, "--validation-rows"),
        ("svgae", {"validation_rows": 5}, "only image sets"),
        ("vae", {}, "unknown model 'vae'"),
    ],
)
def test_impossible_configurations(model, options, message):
    with pytest.raises(ConfigError, match=message):
        make_config(model, **options)


def test_paper_defaults():
    svae = make_config("svae")
    assert (svae.batch_size, svae.lr, svae.warm_up, svae.look_ahead) == (64, 1e-3, 100, 50)
    semi = make_config("m1m2-sn")
    assert (semi.batch_size, semi.lr, semi.look_ahead, semi.labels) == (100, 1e-3, 50, 100)
    assert make_config("svgae").epochs == 200
    assert make_config("svgae", data="pubmed").epochs == 400
    assert make_config("svgae", data="pubmed", epochs=3).epochs == 3
