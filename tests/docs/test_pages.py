# SPDX-License-Identifier: MIT
"""Pages are narrow, their links lead somewhere, the files that they name exist, and the door
(docs/README.md) leads to every page."""

import re
from pathlib import Path

import pytest
from helpers.commands import python
from helpers.paths import PROJECT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/*.md")
    for path in PROJECT.glob(pattern)
)
CODE = re.compile(r"^ *```.*?^ *```", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# `svmf/models/vae.py`, `csrc/cuda/`: a path is what begins with a folder of the project.
FOLDERS = [p.name for p in PROJECT.iterdir() if p.is_dir() and not p.name.startswith(".")]
MADE = ("build", "bench_output", "demo_output", "runs", "dist")
NAMES = "|".join(re.escape(name) for name in sorted(FOLDERS) if name not in MADE)
PATH = re.compile(rf"`((?:{NAMES})/[\w./*-]*)(?:::\w+)?`")


def named(page):
    return page.relative_to(PROJECT).as_posix()


def anchors(text):
    """Anchors of the headings, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = page.parent / target if target else page
        if not path.exists() or (anchor and anchor not in anchors(path.read_text())):
            yield link


def missing_paths(text):
    for path in PATH.findall(text):
        if "*" in path:
            if not any(PROJECT.glob(path)):
                yield path
        elif not (PROJECT / path).exists():
            yield path


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    assert list(broken_links(page, page.read_text())) == []


# What the changelog names may be gone.
@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=named)
def test_named_files_exist(page):
    assert list(missing_paths(page.read_text())) == []


def test_a_broken_link_and_a_missing_file_are_noticed():
    page = PROJECT / "README.md"
    text = "[a](docs/no.md) [b](docs/README.md#use) [c](docs/README.md#no) `svmf/no.py` `csrc/math`"
    assert list(broken_links(page, text)) == ["docs/no.md", "docs/README.md#no"]
    assert list(missing_paths(text + " `csrc/math/wood.h`")) == ["svmf/no.py"]


def test_the_door_leads_to_every_page():
    reached, new = set(), [PROJECT / "docs" / "README.md"]
    while new:
        page = new.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        for link in LINK.findall(page.read_text()):
            if not re.match(r"[a-z]+:", link):
                new.append((page.parent / link.partition("#")[0]).resolve())
    assert set(PROJECT.glob("docs/**/*.md")) <= reached


def width(*arguments):
    return python(PROJECT / "tools" / "markdown_width.py", *arguments, check=False)


def test_pages_are_narrow():
    answer = width(*PAGES)
    assert (answer.returncode, answer.stdout) == (0, "")


def test_a_wide_line_is_noticed(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"| {'x' * 200} |\n\n```\n{'x' * 200}\n```\n\n[a](https://{'x' * 200})\n")
    assert width(page).returncode == 0
    page.write_text("word " * 30)
    assert width(page).returncode == 1
