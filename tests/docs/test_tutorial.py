# SPDX-License-Identifier: MIT
"""docs/tutorial.md runs from top to bottom, and its code prints what the page shows."""

import contextlib
import io
import math
import re

from helpers.paths import PROJECT

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.S | re.M)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def same(shown: str, printed: str) -> bool:
    """Equal words, and numbers that agree to five per cent: fits and training differ a little from
    one machine to the next."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=0.05) for a, b in pairs)


def test_the_tour_runs_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (PROJECT / "docs" / "tutorial.md").read_text()
    names: dict[str, object] = {"__name__": "tutorial"}
    printed = ""
    for kind, text in BLOCK.findall(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "docs/tutorial.md", "exec"), names)
            printed = out.getvalue()
        else:
            assert same(text, printed), f"the page shows\n{text}but its code prints\n{printed}"
    for name in ("tutorial-map.png", "tutorial-digits.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
        kept = PROJECT / "docs" / "images" / name
        assert kept.stat().st_size < 60_000, "pictures are kept small"
