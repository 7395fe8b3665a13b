# SPDX-License-Identifier: MIT
"""The appendix's table of the expected number of proposals of the rejection sampler."""

from pathlib import Path
from typing import Any

import torch

from reproduction.markdown import markdown_table, write_table
from reproduction.paper import TABLE5, TABLE5_KAPPAS
from reproduction.record import Job, Workspace, read_results
from svmf.reference import expected_proposals


def jobs(workspace: Workspace) -> list[Job]:
    draws = 1000 if workspace.quick else 1_000_000
    return [_job(dim, draws) for dim in TABLE5]


def _job(dim: int, draws: int) -> Job:
    def work(_folder: Path) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(dim)
        means = [expected_proposals(kappa, dim + 1, draws, generator) for kappa in TABLE5_KAPPAS]
        return {"draws": draws, "seed": dim, "kappas": list(TABLE5_KAPPAS), "means": means}

    return Job("proposals", f"d{dim:03d}", work)


def render(workspace: Workspace) -> Path:
    results = read_results(workspace, "proposals")
    rows = []
    for result in results:
        dim = int(result["key"].removeprefix("d"))
        for name, values in (("ours", result["means"]), ("paper", TABLE5[dim])):
            rows.append([str(dim), name, *(f"{value:.3f}" for value in values)])
    draws = results[0]["draws"] if results else 0
    notes = (
        f"Mean number of proposals until acceptance over {draws:,} draws in each cell (the paper "
        "has 1,000, so its standard errors are up to 0.025; ours are below 0.001 for a million). "
        "d = m - 1. The sampler is `svmf.reference`'s, the paper's Algorithm 2."
    )
    head = ["d", "", *(f"κ = {kappa}" for kappa in TABLE5_KAPPAS)]
    body = markdown_table(head, rows)
    return write_table(workspace.results / "table5.md", "Table 5: number of proposals", notes, body)
