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
from reproduction.released_gap import SAMPLES, released_gap
from svmf.functional import vmf_rsample
from svmf.models import VAE, Bernoulli, SphericalLatent, released_log_likelihood


@pytest.mark.parametrize("dim", [1, 2, 5, 10, 40])
def test_gap_is_that_of_gamma_draws(dim):
    """4,000 means of 500 draws each; within four standard errors."""
    t = np.random.default_rng(dim).gamma(dim / 2, size=(4000, SAMPLES))
    gaps = scipy.special.logsumexp(t, axis=1) - math.log(SAMPLES) - dim / 2
    assert abs(gaps.mean() - released_gap(dim)) < 4 * gaps.std() / math.sqrt(len(gaps))


@pytest.mark.parametrize("kappa", [math.inf, 30.0])
def test_gap_of_one_draw_is_zero(kappa):
    assert released_gap(5, kappa, samples=1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("dim", "kappa"), [(2, 2900.0), (3, 20.0), (10, 640.0), (40, 211.0)])
def test_gap_is_that_of_vmf_samples(dim, kappa):
    """2,000 means of 500 samples each; within four standard errors."""
    generator = torch.Generator().manual_seed(dim)
    loc = torch.zeros(2000, dim + 1, dtype=torch.float64)
    loc[:, 0] = 1
    kappas = torch.full((2000,), kappa, dtype=torch.float64)
    z = vmf_rsample(loc, kappas, (SAMPLES,), generator=generator)
    t = kappa * (1 - z[..., 0])
    gaps = t.logsumexp(0) - math.log(SAMPLES) - t.mean()
    error = float(gaps.std()) / math.sqrt(len(gaps))
    assert abs(float(gaps.mean()) - released_gap(dim, kappa)) < 4 * error


def test_released_formula_of_a_model_has_the_gap():
    """`released_log_likelihood` less RE and KL on a model without training, whose posteriors have
    kappa of their own."""
    torch.manual_seed(0)
    model = VAE(20, SphericalLatent(5), Bernoulli(), (16,))
    x = (torch.rand(300, 20) < 0.3).float()
    with torch.no_grad():
        posterior = model.posterior(x)
        released = torch.stack([released_log_likelihood(model, x).mean() for _ in range(20)])
        terms = torch.stack([model.elbo_terms(x).mean(1) for _ in range(20)]).double()
    kappa = float(posterior.concentration.mean())
    elbo = terms[:, 0] - terms[:, 1]
    gap = float(released.mean() - elbo.mean())
    error = math.hypot(float(released.std()), float(elbo.std())) / math.sqrt(20)
    assert gap == pytest.approx(released_gap(5, kappa), abs=4 * error + 0.01)


def test_papers_gap_is_near_the_gamma_gap():
    """For S: to 0.3 nats at every d in the limit of large kappa."""
    for (model, dim), (ll, elbo, _, _) in TABLE1.items():
        if model == "svae":
            assert abs(ll[0] - elbo[0] - released_gap(dim)) < 0.31


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
