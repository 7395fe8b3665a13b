# SPDX-License-Identifier: MIT
"""Fails if a line of Markdown is wider than 120 columns. Table rows, generated blocks, code and the
targets of links do not count.

    python tools/markdown_width.py            # every Markdown file of the repository
    python tools/markdown_width.py FILE ...
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
ROOT = Path(__file__).resolve().parent.parent
EXEMPT = re.compile(r"^<!-- table: .*?^<!-- end of table -->|^ *```.*?^ *```", re.S | re.M)
TARGET = re.compile(r"(?<=\])\([^)]*\)")


def too_wide(text: str) -> Iterator[tuple[int, int]]:
    """Line numbers and widths."""
    text = EXEMPT.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)
    for number, line in enumerate(text.splitlines(), 1):
        width = len(TARGET.sub("", line))
        if width > WIDTH and not line.lstrip().startswith("|"):
            yield number, width


def main() -> int:
    names = sys.argv[1:]
    if not names:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        names = [str(ROOT / name) for name in listed.stdout.splitlines()]
    found = 0
    for name in names:
        for number, width in too_wide(Path(name).read_text()):
            print(f"{name}:{number}: {width} columns, at most {WIDTH} are allowed")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
