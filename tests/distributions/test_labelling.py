# SPDX-License-Identifier: MIT
"""Hard assignment in shorter types and by rows that moved: the labels and sums of plain passes."""

import pytest
import torch

from svmf.distributions import VonMisesFisher
from svmf.mixture import labelling
from svmf.mixture.components import Components
from svmf.mixture.labelling import Labelling, RoundedRows
from svmf.mixture.rows import DenseRows
from svmf.mixture.seeding import Directions
from svmf.mixture.steps import pass_over


def unit(*shape, generator, dtype=torch.float64):
    return torch.nn.functional.normalize(
        torch.randn(*shape, generator=generator, dtype=dtype), dim=-1
    )


def models(k, m, dtype, generator):
    """Models that drift, as in a fit: cosines, then components of other weights and kappa."""
    locs = unit(k, m, generator=generator)
    for step in range(4):
        locs = torch.nn.functional.normalize(
            locs + 0.05 * unit(k, m, generator=generator), dim=-1
        ).to(dtype)
        if step % 2:
            kappa = m * (0.1 + torch.rand(k, generator=generator, dtype=torch.float64))
            weights = torch.rand(k, generator=generator, dtype=torch.float64)
            yield Components((weights / weights.sum()).to(dtype), locs, kappa.to(dtype))
        else:
            yield Directions(locs)


@pytest.mark.parametrize("shorter", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [3, 40, 300])
def test_labels_and_sums_are_those_of_plain_passes(m, weighted, dtype, shorter, monkeypatch):
    if shorter == dtype:
        pytest.skip("not shorter")
    monkeypatch.setattr(labelling, "rounded", lambda rows: RoundedRows(rows, shorter))
    monkeypatch.setattr(labelling, "_LEAST_WORK", 0)
    generator = torch.Generator().manual_seed(m)
    n, k = 2500, 12
    rows = DenseRows(unit(n, m, generator=generator).to(dtype))
    weight = torch.rand(n, generator=generator, dtype=torch.float64) if weighted else None
    passes = Labelling(rows, weight, k)
    for model in models(k, m, dtype, generator):
        found = passes(model)
        best, label = model.scores(rows).max(-1)
        torch.testing.assert_close(passes._label, label, rtol=0, atol=0)
        plain = pass_over(rows, weight, model, hard=True, k=k)
        torch.testing.assert_close(found.count, plain.count)
        torch.testing.assert_close(found.resultant, plain.resultant, rtol=1e-5, atol=1e-5)
        assert found.objective == pytest.approx(plain.objective, rel=3e-6, abs=3e-6)
        torch.testing.assert_close(found.by_row, best, rtol=1e-2, atol=1e-2 * m)


@pytest.mark.parametrize("shorter", [torch.bfloat16, torch.float32])
def test_a_row_between_two_components_is_never_settled_by_a_short_type(shorter):
    """Pairs of components whose difference no short type sees: every row has to be looked at."""
    generator = torch.Generator().manual_seed(1)
    rows = DenseRows(unit(600, 50, generator=generator))
    locs = unit(4, 50, generator=generator)
    locs = torch.cat((locs, torch.nn.functional.normalize(locs + 1e-9 * locs.roll(1, -1), dim=-1)))
    short = RoundedRows(rows, shorter)
    label = (rows.data @ locs.T).argmax(-1)
    open_rows = short.unsettled(Directions(locs), label, torch.empty(600, dtype=torch.float64))
    assert open_rows.tolist() == list(range(600))


def test_the_error_bound_holds_and_most_rows_are_settled():
    """Clusters that stand apart: few rows are looked at again, and no wrong label is settled."""
    generator = torch.Generator().manual_seed(2)
    k, m = 20, 200
    locs = unit(k, m, generator=generator)
    data = VonMisesFisher(locs, torch.full((k,), 60.0, dtype=torch.float64))
    rows = DenseRows(data.sample((200,), generator=generator).reshape(-1, m))
    short = RoundedRows(rows, torch.bfloat16)
    label = (rows.data @ locs.T).argmax(-1)
    best = torch.empty(rows.shape[0], dtype=torch.float64)
    assert short.unsettled(Directions(locs), label, best).numel() < rows.shape[0] // 20
    wrong = (label + 1) % k
    assert short.unsettled(Directions(locs), wrong, best).numel() == rows.shape[0]


def test_a_component_that_lost_its_rows_leaves_nothing():
    generator = torch.Generator().manual_seed(3)
    rows = DenseRows(unit(500, 5, generator=generator))
    rows.data[:, 0].abs_()
    weight = torch.rand(500, generator=generator, dtype=torch.float64)
    passes = Labelling(rows, weight, 2)
    before = passes(Directions(unit(2, 5, generator=generator)))
    assert before.count.min() > 0
    all_in_the_first = torch.zeros(2, 5, dtype=torch.float64)
    all_in_the_first[0, 0] = 1
    left = passes(Directions(all_in_the_first))
    assert left.count[1] == 0
    assert not left.resultant[1].any()
