# SPDX-License-Identifier: MIT
"""For `make docs` (mkdocs.yml): pages link to files of the repository outside docs/, so that they
can be read there. In the built site such a file stands under repository/, and links follow it. A
link to a folder, or to a file that no page of docs/ links to, becomes plain text."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```)", re.M | re.S)


def _outside() -> list[Path]:
    """Files of the repository that pages of docs/ link to."""
    targets = {
        (page.parent / target).resolve()
        for page in DOCS.rglob("*.md")
        for _, _, target, _ in LINK.findall(page.read_text())
    }
    return sorted(t for t in targets if t.is_file() and not t.is_relative_to(DOCS))


def _uri(path: Path) -> str:
    """Where a file of the repository stands in the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"repository/{path.relative_to(ROOT).as_posix()}"


def on_files(files: Files, config: Any) -> Files:
    for path in _outside():
        files.append(File.generated(config, _uri(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    source = page.file.src_uri
    here = ROOT / source.removeprefix("repository/") if source.startswith("repo") else DOCS / source

    def follow(link: re.Match[str]) -> str:
        picture, text, target, anchor = link.groups()
        path = (here.parent / target).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            return link[0]  # mkdocs complains
        if files.get_file_from_path(_uri(path)) is None:
            return text
        relative = os.path.relpath(_uri(path), Path(source).parent)
        return f"{picture}[{text}]({relative}{anchor or ''})"

    return "".join(
        part if part.lstrip().startswith("```") else LINK.sub(follow, part)
        for part in CODE.split(markdown)
    )
