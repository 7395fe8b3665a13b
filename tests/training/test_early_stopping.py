# SPDX-License-Identifier: MIT
"""When a run gives up, and how the KL weight grows."""

import math

from svmf.training.early_stopping import EarlyStopping, warm_up_weight


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
