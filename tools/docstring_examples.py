# SPDX-License-Identifier: MIT
"""For the API reference (mkdocs.yml): docstrings are plain text, and their examples (`>>>`) and
indented formulas are shown as they are written."""

from __future__ import annotations

import re
from typing import Any

import griffe

# A paragraph that starts with a prompt, up to the next empty line.
EXAMPLE = re.compile(r"^( *)>>> .*?(?=\n\s*\n|\Z)", re.M | re.S)


def with_fences(text: str) -> str:
    return EXAMPLE.sub(
        lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text.rstrip()
    )


class DocstringExamples(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_fences(obj.docstring.value)
