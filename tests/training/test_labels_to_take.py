# SPDX-License-Identifier: MIT
"""How many labels a row takes in an epoch of M1+M2."""

import pytest

from svmf.training.semi_supervised_task import labels_to_take


@pytest.mark.parametrize(
    ("needed", "classes", "taken"),
    [(None, 10, None), (1, 10, 1.5), (1.5, 10, 2), (4, 10, 5), (9.9, 10, None), (2, 2, None)],
)
def test_labels_to_take(needed, classes, taken):
    assert labels_to_take(needed, classes) == taken
