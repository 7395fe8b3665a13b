# SPDX-License-Identifier: MIT
"""Puts the tables of `svmf bench --json` into docs/performance.md, between its markers.

    svmf bench --json bench_output/bench.json --out docs/images
    svmf bench --goals --json bench_output/goals.json
    python benchmarks/update_docs.py bench_output/bench.json bench_output/goals.json

A table that two files have is taken from the later one.
"""

import argparse
import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
MARKED = re.compile(r"<!-- bench: (?P<name>[a-z-]+) -->\n.*?<!-- end of bench -->", re.S)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", help="JSON files of `svmf bench`")
    tables: dict[str, str] = {}
    for file in parser.parse_args().files:
        document = json.loads(Path(file).read_text())
        found = document["markdown"]
        # lines of their own on the page
        found["environment"] = found["environment"].replace("\n", "\n\n")
        if not document["sampling"]:
            found["goals-environment"] = found.pop("environment")
        tables |= found

    def fill(marked: re.Match[str]) -> str:
        name = marked["name"]
        if name not in tables:
            return marked[0]
        return f"<!-- bench: {name} -->\n{tables[name]}\n<!-- end of bench -->"

    PAGE.write_text(MARKED.sub(fill, PAGE.read_text()))


if __name__ == "__main__":
    main()
