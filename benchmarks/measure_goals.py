# SPDX-License-Identifier: MIT
"""Measures what the table of goals is made of: at a few shapes beside the other tables, at all of
them for `--goals`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks import goals, special
from benchmarks.graph_epochs import measure_graph
from benchmarks.sampler_goals import KAPPAS, QUICK_SHAPES, SHAPES, measure_cell
from svmf.benchmarking.cases import Shape

if TYPE_CHECKING:
    from benchmarks.laboratory import Laboratory

_GRAPH_THREADS = 2


def measure_some_goals(laboratory: "Laboratory") -> None:
    """Six shapes, and what the other sections have measured already."""
    _measure_cells(laboratory, QUICK_SHAPES, (50.0,), laboratory.plan.seconds / 4, bounded=True)
    _measure_class_step(laboratory)


def measure_all_goals(laboratory: "Laboratory") -> None:
    plan = laboratory.plan
    shapes = plan.shapes or (QUICK_SHAPES if plan.quick else SHAPES)
    kappas = plan.kappas or ((50.0,) if plan.quick else KAPPAS)
    _measure_cells(laboratory, shapes, kappas, plan.seconds / 3, bounded=False)
    if plan.shapes:
        return
    if laboratory.has_scipy:
        count = 20_000 if plan.quick else 200_000
        laboratory.measure_special(
            [special.KL, special.LOG_IV], count, plan.seconds / 4, share=float("inf")
        )
    _measure_class_step(laboratory)
    laboratory.training()
    if laboratory.report.training:
        from benchmarks.training_models import epoch_overhead

        laboratory.tell("an epoch of the S-VAE")
        laboratory.report.epoch_overhead = epoch_overhead(1 if plan.quick else 4)
    if not plan.quick:
        _measure_graphs(laboratory)


def _measure_cells(
    laboratory: "Laboratory",
    shapes: Sequence[Shape],
    kappas: Sequence[float],
    seconds: float,
    bounded: bool,
) -> None:
    plan, left_out = laboratory.plan, 0
    for kappa in kappas:
        for shape in shapes:
            if bounded and not laboratory.time_left():
                left_out += 1
                continue
            laboratory.tell(f"goals at {shape}, kappa {kappa:g}")
            # plain Python is slow and hardly depends on kappa: one kappa is enough
            slow = kappa == kappas[len(kappas) // 2]
            laboratory.report.cells.append(
                measure_cell(
                    shape, kappa, seconds, plan.statistic, slow=slow, cpu_time=plan.cpu_time
                )
            )
    if left_out:
        laboratory.note(f"time is short: goals at {left_out} shapes were not measured (--minutes)")


def _measure_class_step(laboratory: "Laboratory") -> None:
    laboratory.tell("VonMisesFisher at a small batch")
    laboratory.report.class_step = goals.measure_class_step(
        laboratory.plan.seconds * 2, laboratory.plan.cpu_time
    )


def _measure_graphs(laboratory: "Laboratory") -> None:
    for data, epochs, measured, _, _ in goals.GRAPHS:
        laboratory.tell(f"S-VGAE on {data}")
        found = measure_graph(data, epochs, measured, _GRAPH_THREADS)
        if isinstance(found, str):
            laboratory.note(found)
        else:
            laboratory.report.graphs.append(found)
