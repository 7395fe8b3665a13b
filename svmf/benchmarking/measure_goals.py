# SPDX-License-Identifier: MIT
"""Measures what the table of goals is made of: at a few shapes within `svmf bench`, at all of them
for `svmf bench --goals`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from svmf.benchmarking import goals, special
from svmf.benchmarking.graph_epochs import measure_graph
from svmf.benchmarking.sampler_goals import KAPPAS, QUICK_SHAPES, SHAPES, measure_cell
from svmf.benchmarking.shapes import Shape

if TYPE_CHECKING:
    from svmf.benchmarking.session import Session

_GRAPH_THREADS = 2


def measure_some_goals(session: "Session") -> None:
    """Six shapes, and what the other sections have measured already."""
    _measure_cells(session, QUICK_SHAPES, (50.0,), session.plan.seconds / 4, bounded=True)
    _measure_class_step(session)


def measure_all_goals(session: "Session") -> None:
    plan = session.plan
    shapes = plan.shapes or (QUICK_SHAPES if plan.quick else SHAPES)
    kappas = plan.kappas or ((50.0,) if plan.quick else KAPPAS)
    _measure_cells(session, shapes, kappas, plan.seconds / 3, bounded=False)
    if plan.shapes:
        return
    if session.has_scipy:
        count = 20_000 if plan.quick else 200_000
        session.measure_special(
            [special.KL, special.LOG_IV], count, plan.seconds / 4, share=float("inf")
        )
    _measure_class_step(session)
    session.training()
    if session.report.training:
        from svmf.benchmarking.training_models import epoch_overhead

        session.tell("an epoch of the S-VAE")
        session.report.epoch_overhead = epoch_overhead(1 if plan.quick else 4)
    if not plan.quick:
        _measure_graphs(session)


def _measure_cells(
    session: "Session",
    shapes: Sequence[Shape],
    kappas: Sequence[float],
    seconds: float,
    bounded: bool,
) -> None:
    plan, left_out = session.plan, 0
    for kappa in kappas:
        for shape in shapes:
            if bounded and not session.time_left():
                left_out += 1
                continue
            session.tell(f"goals at {shape}, kappa {kappa:g}")
            # plain Python is slow and hardly depends on kappa: one kappa is enough
            slow = kappa == kappas[len(kappas) // 2]
            session.report.cells.append(
                measure_cell(
                    shape, kappa, seconds, plan.statistic, slow=slow, cpu_time=plan.cpu_time
                )
            )
    if left_out:
        session.note(f"time is short: goals at {left_out} shapes were not measured (--minutes)")


def _measure_class_step(session: "Session") -> None:
    session.tell("VonMisesFisher at a small batch")
    session.report.class_step = goals.measure_class_step(
        session.plan.seconds * 2, session.plan.cpu_time
    )


def _measure_graphs(session: "Session") -> None:
    for data, epochs, measured, _, _ in goals.GRAPHS:
        session.tell(f"S-VGAE on {data}")
        found = measure_graph(data, epochs, measured, _GRAPH_THREADS)
        if isinstance(found, str):
            session.note(found)
        else:
            session.report.graphs.append(found)
