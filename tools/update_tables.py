# SPDX-License-Identifier: MIT
"""Every generated table of the documentation, between `<!-- table: SOURCE.NAME -->` and
`<!-- end of table -->`, and the tables of results/.

    python tools/update_tables.py                           # after new runs: from results/*.json
    python tools/update_tables.py errors                    # docs/math.md, measured anew: seconds
    python tools/update_tables.py variance                  # docs/sampling.md: some minutes
    python tools/update_tables.py bench FILE.json ...       # docs/performance*.md; the files come
                                                            # from tools/measure_performance.py
    python tools/update_tables.py cuda build/cuda           # docs/cuda.md, after `make cuda`
    python tools/update_tables.py --check                   # changes nothing, says what is wrong

A check measures nothing: it makes the tables of results anew, and asks of the measured ones
whether they have the rows that they should have.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # `reproduction` and `benchmarks` are no part of the package
TABLE = re.compile(
    r"<!-- table: (?P<source>[a-z]+)\.(?P<name>[a-z0-9-]+) -->\n"
    r"(?P<text>(?:(?!<!-- table:).)*?)\n?<!-- end of table -->",
    re.S,
)
MARK = re.compile(r"^<!-- (?:table: .*|end of table) -->$", re.M)
Wrong = str | None


@dataclass(frozen=True)
class Source:
    """Where tables come from. `make` has them by name, from the command line's further arguments;
    `check` says what is wrong with the text that stands in a page."""

    make: Callable[[Path, Sequence[str]], dict[str, str]]
    check: Callable[[Path, str, str], Wrong]
    inputs: str = ""


@cache
def _results(root: Path, _: Sequence[str]) -> dict[str, str]:
    from reproduction.pages import page_tables

    return page_tables(root)


def _check_results(root: Path, name: str, text: str) -> Wrong:
    return None if _results(root, ()).get(name) == text else "out of date"


def _errors(_root: Path, _: Sequence[str]) -> dict[str, str]:
    from error_table import measure, table

    return {"all": table(measure())}


def _check_errors(_root: Path, _name: str, text: str) -> Wrong:
    from error_table import check

    return check(text)


def _variance(_root: Path, draws: Sequence[str]) -> dict[str, str]:
    from variance_table import table

    return {"kappa": table(int(draws[0]) if draws else 1_000_000)}


def _check_variance(_root: Path, _name: str, text: str) -> Wrong:
    from variance_table import check

    return check(text)


def _bench(_root: Path, files: Sequence[str]) -> dict[str, str]:
    from bench_tables import read

    return read([Path(file) for file in files])


def _check_bench(root: Path, name: str, text: str) -> Wrong:
    from benchmarks.report import SECTION_TITLES

    if name not in (*SECTION_TITLES, "summary", "environment", "goals-environment"):
        return f"expected a section out of {', '.join(SECTION_TITLES)}"
    return _check_rows(root, name, text)


def _cuda(_root: Path, folders: Sequence[str]) -> dict[str, str]:
    from cuda_report import read_ptxas
    from cuda_tables import all_tables

    (folder,) = map(Path, folders)
    return {"kernels": all_tables(read_ptxas(folder), folder)}


def _check_rows(_root: Path, _name: str, text: str) -> Wrong:
    return None if text.strip() else "expected a table, found nothing"


SOURCES = {
    "results": Source(_results, _check_results),
    "errors": Source(_errors, _check_errors),
    "variance": Source(_variance, _check_variance, "[DRAWS]"),
    "bench": Source(_bench, _check_bench, "FILE.json ..."),
    "cuda": Source(_cuda, _check_rows, "FOLDER"),
}


def pages(root: Path) -> list[Path]:
    """The Markdown files of the repository that may hold tables."""
    names = ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/*.md")
    return sorted(path for name in names for path in root.glob(name))


def fill(text: str, source: str, tables: dict[str, str]) -> str:
    def replace(found: re.Match[str]) -> str:
        if found["source"] != source or found["name"] not in tables:
            return found[0]
        body = tables[found["name"]].strip("\n")
        return f"<!-- table: {source}.{found['name']} -->\n{body}\n<!-- end of table -->"

    return TABLE.sub(replace, text)


def complaints(root: Path) -> Iterator[str]:
    for path in pages(root):
        text, name = path.read_text(), path.relative_to(root)
        found = list(TABLE.finditer(text))
        if len(MARK.findall(text)) != 2 * len(found):
            yield f"{name}: expected `table: SOURCE.NAME` and `end of table` in turn"
        for table in found:
            source = SOURCES.get(table["source"])
            wrong = (
                source.check(root, table["name"], table["text"])
                if source
                else f"expected a source out of {', '.join(SOURCES)}"
            )
            if wrong:
                yield f"{name}: {table['source']}.{table['name']}: {wrong}"
    from reproduction.pages import result_files

    for path, text in result_files(root).items():
        if not path.is_file() or path.read_text() != text:
            yield f"{path.relative_to(root)}: out of date"


def update(root: Path, source: str, arguments: Sequence[str]) -> None:
    tables = SOURCES[source].make(root, tuple(arguments))
    texts = {path: fill(path.read_text(), source, tables) for path in pages(root)}
    if source == "results":
        from reproduction.pages import result_files

        texts |= result_files(root)
    for path, text in texts.items():
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
            print(f"{path.relative_to(root)}: made anew")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", nargs="?", choices=SOURCES, default="results")
    parser.add_argument("inputs", nargs="*", help="what the source is made from")
    parser.add_argument("--check", action="store_true", help="only say what is wrong")
    arguments = parser.parse_args()
    if arguments.check:
        wrong = list(complaints(ROOT))
        print("".join(f"{line}\n" for line in wrong), end="")
        return 1 if wrong else 0
    expected = SOURCES[arguments.source].inputs
    if bool(arguments.inputs) != bool(expected) and not expected.startswith("["):
        parser.error(f"{arguments.source}: expected {expected or 'no further argument'}")
    update(ROOT, arguments.source, arguments.inputs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
