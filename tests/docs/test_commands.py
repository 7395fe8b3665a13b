# SPDX-License-Identifier: MIT
"""Every command that a page shows is one that there is: its options are read, nothing is run."""

import re
import shlex

import pytest
from helpers.paths import PROJECT

import benchmarks.__main__
import reproduction.__main__
import svmf.cli

PAGES = [
    *PROJECT.glob("*.md"),
    *PROJECT.glob("docs/**/*.md"),
    PROJECT / "benchmarks" / "README.md",
    *PROJECT.glob("examples/*.md"),
]
PARSERS = {
    "svmf": svmf.cli.build_parser,
    "python -m svmf": svmf.cli.build_parser,
    "python -m reproduction": reproduction.__main__.build_parser,
    "python -m benchmarks": benchmarks.__main__.build_parser,
}
START = "|".join(re.escape(start) for start in sorted(PARSERS, key=len, reverse=True))
INLINE = re.compile(rf"`((?:{START})(?: [^`]*)?)`")
SHOWN = re.compile(rf"^(?:torchrun .* -m )?((?:{START})\b[^#\n]*)", re.M)
BLOCK = re.compile(r"^```(?:sh)?\n(.*?)^```", re.M | re.S)
MAKE = re.compile(r"(?:^|`)make ([a-z][a-z0-9-]*)", re.M)


def commands(text):
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    yield from INLINE.findall(" ".join(prose.split()))
    for block in BLOCK.findall(text):
        yield from (command.strip() for command in SHOWN.findall(block))


def mistake(command, capsys):
    """What the parser says against it. A mention without all its arguments is none."""
    start = next(s for s in sorted(PARSERS, key=len, reverse=True) if command.startswith(s))
    arguments = shlex.split(command[len(start) :])
    if start.endswith("reproduction"):
        arguments = ["table1" if word == "NAME" else word for word in arguments]
    try:
        PARSERS[start]().parse_args(arguments)
    except SystemExit as stop:
        said = capsys.readouterr().err
        if stop.code and "are required" not in said and "expected one argument" not in said:
            return said
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_commands_exist(page, capsys):
    wrong = {c: said for c in commands(page.read_text()) if (said := mistake(c, capsys))}
    assert wrong == {}


def test_make_targets_exist():
    makefile = (PROJECT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.M))
    for page in PAGES:
        text = page.read_text()
        blocks = "\n".join(BLOCK.findall(text))
        inline = "\n".join(re.findall(r"`[^`\n]*`", text))
        assert set(MAKE.findall(f"{blocks}\n{inline}")) <= targets, page


def test_a_wrong_command_is_noticed(capsys):
    text = "Run `svmf trane` or\n\n```sh\nsvmf train svae --dims 3   # no such option\n```\n"
    found = list(commands(text))
    assert found == ["svmf trane", "svmf train svae --dims 3"]
    assert all(mistake(command, capsys) for command in found)
    assert mistake("svmf train svae --dim 3", capsys) is None
