# SPDX-License-Identifier: MIT
"""The experiments by name: what `svmf reproduce NAME` runs and renders."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from svmf.experiments import estimators, figure1, links, mnist, proposals, semi_supervised
from svmf.experiments.record import Job, Place
from svmf.plots import curve_figure

Jobs = Callable[[Place, int, Sequence[int] | None], list[Job]]


@dataclass(frozen=True)
class Experiment:
    """`seeds` is the default number of runs per cell."""

    seeds: int
    jobs: Jobs
    render: tuple[Callable[[Place], Path], ...]


def _pairs(dims: Sequence[int] | None) -> list[tuple[int, int]] | None:
    """A flat list z1 z2 z1 z2 ... as pairs."""
    if dims is None:
        return None
    return list(zip(dims[::2], dims[1::2], strict=True))


def render_surface(place: Place) -> Path:
    """The appendix's figure: the area of the unit sphere against the dimension m."""
    dims = list(range(1, 41))
    areas = [2 * math.pi ** (m / 2) / math.gamma(m / 2) for m in dims]
    path = place.results / "figures" / "surface-area.png"
    return curve_figure(dims, areas, ("m", "area of S^(m-1)"), "Surface of the unit sphere", path)


EXPERIMENTS = {
    "fig1": Experiment(5, lambda p, n, _: figure1.jobs(p, n), (figure1.render,)),
    "table4": Experiment(5, lambda p, n, _: links.jobs(p, n), (links.render,)),
    "table5": Experiment(1, lambda p, _n, _d: proposals.jobs(p), (proposals.render,)),
    "figures": Experiment(1, lambda p, _n, _d: links.latent_jobs(p), (render_surface,)),
    "table1": Experiment(3, mnist.table_jobs, (mnist.render_table1, mnist.render_table2)),
    "table1-released": Experiment(5, lambda p, n, d: mnist.table_jobs(p, n, d, "released"), ()),
    "table2": Experiment(3, mnist.table_jobs, (mnist.render_table1, mnist.render_table2)),
    "table3": Experiment(
        2, lambda p, n, d: semi_supervised.jobs(p, n, _pairs(d)), (semi_supervised.render,)
    ),
    "estimators": Experiment(3, mnist.estimator_jobs, (estimators.render,)),
}
