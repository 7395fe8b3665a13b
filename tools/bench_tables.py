# SPDX-License-Identifier: MIT
"""The tables of docs/performance.md, out of the JSON files that the benchmarks write.

A table that two files have is taken from the later one.
"""

import json
from collections.abc import Sequence
from pathlib import Path


def read(files: Sequence[Path]) -> dict[str, str]:
    tables: dict[str, str] = {}
    for file in files:
        document = json.loads(file.read_text())
        found = document["markdown"]
        # lines of their own on the page
        found["environment"] = found["environment"].replace("\n", "\n\n")
        if not document["sampling"]:
            found["goals-environment"] = found.pop("environment")
        tables |= found
    return tables
