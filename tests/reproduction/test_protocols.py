# SPDX-License-Identifier: MIT
"""Which protocol the paper's figures are: the chi-square over cells, and the gap that the released
example's formula has."""

import json
import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch

from reproduction import table1, table2
from reproduction.agreement import PAPER_RUNS, Cell, agreement
from reproduction.paper import TABLE1, TABLE2
from reproduction.record import Workspace
from reproduction.released_gap import SAMPLES, gamma_gap
from svmf.functional import vmf_rsample


@pytest.mark.parametrize("dim", [1, 2, 5, 10, 40])
def test_gamma_gap_is_that_of_gamma_draws(dim):
    """4,000 means of 500 draws each; within four standard errors."""
    t = np.random.default_rng(dim).gamma(dim / 2, size=(4000, SAMPLES))
    gaps = scipy.special.logsumexp(t, axis=1) - math.log(SAMPLES) - dim / 2
    assert abs(gaps.mean() - gamma_gap(dim)) < 4 * gaps.std() / math.sqrt(len(gaps))


def test_gamma_gap_of_one_draw_is_zero():
    assert gamma_gap(5, samples=1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("dim", "kappa"), [(2, 200.0), (10, 600.0), (40, 1000.0)])
def test_a_vmf_posterior_has_nearly_the_gamma_gap(dim, kappa):
    """From samples of the vMF itself, kappa as trained models have it: within a tenth of a nat."""
    generator = torch.Generator().manual_seed(dim)
    loc = torch.zeros(500, dim + 1, dtype=torch.float64)
    loc[:, 0] = 1
    z = vmf_rsample(loc, torch.full((500,), kappa).double(), (SAMPLES,), generator=generator)
    t = kappa * (1 - z[..., 0])
    gap = (t.logsumexp(0) - math.log(SAMPLES)).mean() - t.mean()
    assert abs(float(gap) - gamma_gap(dim)) < 0.1 + 0.005 * dim


def test_papers_gap_is_the_gamma_gap():
    """The finding: to 0.3 nats at every d, for S."""
    for (model, dim), (ll, elbo, _, _) in TABLE1.items():
        if model == "svae":
            assert abs(ll[0] - elbo[0] - gamma_gap(dim)) < 0.31


def drawn_cells(rng, shift=0.0, runs=3):
    cells = []
    for _ in range(10):
        paper = rng.normal(size=PAPER_RUNS)
        ours = shift + rng.normal(size=runs)
        cells.append(Cell(ours.tolist(), (float(paper.mean()), float(paper.std(ddof=1)))))
    return cells


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_chi_square_has_its_level_and_power(runs):
    """Over 400 tables of equal runs the p-values are uniform (Kolmogorov-Smirnov at 1e-4); a
    shift by two standard deviations in every cell is found."""
    rng = np.random.default_rng(runs)
    p = [agreement(drawn_cells(rng, runs=runs)).p for _ in range(400)]
    assert scipy.stats.kstest(p, "uniform").pvalue > 1e-4
    assert agreement(drawn_cells(rng, 2.0, runs)).p < 1e-3


def test_one_cell_is_students_test():
    rng = np.random.default_rng(0)
    paper, ours = rng.normal(size=PAPER_RUNS), rng.normal(size=4)
    cell = Cell(ours.tolist(), (float(paper.mean()), float(paper.std(ddof=1))))
    expected = scipy.stats.ttest_ind(ours, paper)
    assert cell.t == pytest.approx(expected.statistic)
    assert agreement([cell]).p == pytest.approx(expected.pvalue)
    assert Cell([0.0], (1.0, 0.1)).deviate < -3
    assert Cell([0.0], (1.0, 0.1), shared=5.0).deviate > -1
    assert math.isfinite(Cell([0.0], (1e6, 1e-3)).deviate)
    assert str(agreement([Cell([], (0.0, 1.0))])) == "–"


def write_run(folder, model, dim, seed, shift):
    ll, elbo, re, kl = (mean + shift * spread for mean, spread in TABLE1[model, dim])
    accuracies = {str(n): [cell[0] / 100] for n, cell in TABLE2[model, dim].items()}
    figures = {"ll": ll + 2, "ll_released": ll, "elbo": elbo, "re": re, "kl": kl}
    figures |= {"knn": accuracies, "knn_grey": accuracies}
    result = {
        "key": f"{model}-{dim}-{seed}",
        "config": {"model": model, "gradient": "pathwise", "dim": dim, "epochs": 9},
        "epochs": 3,
        "best_epoch": 1,
        "figures": figures,
    }
    result["config"]["look_ahead"] = 2
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result['key']}.json").write_text(json.dumps(result))


def test_tables_tell_the_protocols_apart(tmp_path):
    """Runs like the paper's under `released`, runs five spreads off under `stated`."""
    workspace = Workspace(tmp_path, tmp_path)
    for model, dim in TABLE1:
        for seed, shift in enumerate((-0.5, 0.0, 0.5)):
            write_run(tmp_path / "mnist-released", model, dim, seed, shift)
            write_run(tmp_path / "mnist", model, dim, seed, shift + 5)
    released = table1.runs_of(workspace, "released")
    stated = table1.runs_of(workspace, "stated")
    for name in ("ll_released", "elbo", "re", "kl"):
        assert table1.agreement_of(released, name, TABLE1).near == 10
        assert table1.agreement_of(released, name, TABLE1).p > 0.99
        assert table1.agreement_of(stated, name, TABLE1).p < 1e-9
    assert table1.agreement_of(released, "ll", TABLE1).p < 1e-9, "the other formula is two nats off"
    text = table1.render(workspace).read_text()
    assert text.count("\n## Protocol: ") == 2
    assert "| 40 | S | -88.87 ± 0.17 (3) | -90.87 ± 0.17 (3) | -90.87 ± 0.34 |" in text
    knn = table2.render(workspace).read_text()
    assert "| released | means, grey images | +0.0 (0.0), 15 cells | +0.0 (0.0), 15 cells |" in knn
    assert "| released | one sample, binarised images | – | – |" in knn
