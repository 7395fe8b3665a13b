# SPDX-License-Identifier: MIT
"""The tables of docs/performance.md and docs/performance_tables.md, out of the JSON files that the
benchmarks write, or out of one file that has several of their documents under "runs"
(tools/measure_performance.py).

A table that two documents have is taken from the later one; the summary is of all of them. Figures
of a busy machine are refused.
"""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path


def summary(documents: Sequence[dict]) -> str:
    """Every goal's question, with median and worst of each instruction set side by side."""
    from benchmarks.goal_lines import GoalLine
    from svmf.benchmarking.report import table

    sets: list[str] = []
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for document in documents:
        name = document["environment"]["instruction set"]
        for fields in document["goals"]:
            line = GoalLine(**{key: fields[key] for key in fields if key != "met"})
            middle, worst = (line.text(f(line.values)) for f in (statistics.median, max))
            cell = middle if middle == worst else f"{middle}, at most {worst}"
            rows.setdefault((line.what, line.against, line.scope), {})[name] = cell
            if name not in sets:
                sets.append(name)
    body = [[*key, *(cells.get(name, "-") for name in sets)] for key, cells in rows.items()]
    return table(["what", "against", "where", *sets], body, text_columns=3)


def _documents(file: Path) -> list[dict]:
    document = json.loads(file.read_text())
    found = document.get("runs", [document])
    for run in found:
        if run.get("busy"):
            raise SystemExit(f"{file}: {run['busy']}")
    return found


def read(files: Sequence[Path]) -> dict[str, str]:
    documents = [document for file in files for document in _documents(file)]
    tables: dict[str, str] = {}
    with_goals = [document for document in documents if document.get("goals")]
    if with_goals:
        tables["summary"] = summary(with_goals)
    for document in documents:
        found = document["markdown"]
        # lines of their own on the page
        found["environment"] = found["environment"].replace("\n", "\n\n")
        if not document["sampling"]:
            found["goals-environment"] = found.pop("environment")
        tables |= found
    return tables
