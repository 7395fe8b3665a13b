# SPDX-License-Identifier: MIT
"""The experiments by name: what `python -m reproduction NAME` runs and renders."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction import (
    beyond,
    estimators,
    figure1,
    high_dimension,
    mnist,
    sc_vae,
    table1,
    table2,
    table3,
    table4,
    table5,
)
from reproduction.pictures import draw_curve
from reproduction.record import Job, Workspace

Jobs = Callable[[Workspace, int, Sequence[int] | None], list[Job]]


@dataclass(frozen=True)
class Experiment:
    """`seeds` is the default number of runs per cell; `cuttable` says whether the runs end by a
    look-ahead, so that `--epochs` may end them earlier."""

    title: str
    seeds: int
    jobs: Jobs
    render: tuple[Callable[[Workspace], Path], ...]
    cuttable: bool = False


def _pairs(dims: Sequence[int] | None) -> list[tuple[int, int]] | None:
    """A flat list z1 z2 z1 z2 ... as pairs."""
    if dims is None:
        return None
    return list(zip(dims[::2], dims[1::2], strict=True))


def render_surface(workspace: Workspace) -> Path:
    """The appendix's figure: the area of the unit sphere against the dimension m."""
    dims = list(range(1, 41))
    areas = [2 * math.pi ** (m / 2) / math.gamma(m / 2) for m in dims]
    path = workspace.results / "figures" / "surface-area.png"
    return draw_curve(dims, areas, ("m", "area of S^(m-1)"), "Surface of the unit sphere", path)


_MNIST_TABLES = (table1.render, table2.render)
EXPERIMENTS = {
    "fig1": Experiment(
        "figure 1: the circle", 5, lambda w, n, _: figure1.jobs(w, n), (figure1.render,)
    ),
    "table1": Experiment("likelihood on MNIST", 3, mnist.table_jobs, _MNIST_TABLES, True),
    "table1-released": Experiment(
        "table 1 by the protocol of the released example",
        5,
        lambda w, n, d: mnist.table_jobs(w, n, d, "released"),
        _MNIST_TABLES,
        True,
    ),
    "table2": Experiment("k-NN on MNIST", 3, mnist.table_jobs, _MNIST_TABLES, True),
    "table3": Experiment(
        "M1+M2 on MNIST", 2, lambda w, n, d: table3.jobs(w, n, _pairs(d)), (table3.render,), True
    ),
    "table4": Experiment("link prediction", 5, lambda w, n, _: table4.jobs(w, n), (table4.render,)),
    "table5": Experiment(
        "number of proposals", 1, lambda w, _n, _d: table5.jobs(w), (table5.render,)
    ),
    "figures": Experiment(
        "latent spaces of Cora, surface of the sphere",
        1,
        lambda w, _n, _d: table4.latent_jobs(w),
        (render_surface,),
    ),
    "estimators": Experiment(
        "gradient estimators on MNIST", 3, mnist.estimator_jobs, (estimators.render,), True
    ),
    "beyond": Experiment(
        "posteriors on spheres against the Gaussian", 3, beyond.jobs, (beyond.render,), True
    ),
    "high-dimension": Experiment(
        "a step of every family in R^1024 and R^4096",
        1,
        lambda w, _n, d: high_dimension.jobs(w, d),
        (beyond.render,),
    ),
    "sc-vae": Experiment(
        "posteriors on spheres under the protocol of SC-VAE", 5, sc_vae.jobs, (sc_vae.render,), True
    ),
}
