# SPDX-License-Identifier: MIT
"""Generated tables say what they are made from, and the check notices when they do not."""

import json
import shutil

import pytest
from helpers.commands import python
from helpers.paths import PROJECT

PAGES = (
    "README.md", "docs/results.md", "docs/math.md", "docs/sampling.md", "docs/performance.md",
    "docs/performance_tables.md",
)  # fmt: skip


def update(project, *arguments):
    return python(project / "tools" / "update_tables.py", *arguments, check=False)


def check(project):
    return update(project, "--check")


@pytest.fixture
def project(tmp_path):
    """What the tool reads, to be changed."""
    for name in PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    shutil.copytree(PROJECT / "results", tmp_path / "results")
    shutil.copytree(PROJECT / "tools", tmp_path / "tools")
    for name in ("tests", "reproduction", "benchmarks"):
        (tmp_path / name).symlink_to(PROJECT / name)
    return tmp_path


def complaints(project):
    """(page, rest of the line) of everything that the check says."""
    answer = check(project)
    assert answer.returncode == 1, answer.stderr
    return [line.partition(": ")[::2] for line in answer.stdout.splitlines()]


def test_tables_are_up_to_date():
    answer = check(PROJECT)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_changed_result_is_noticed(project):
    path = project / "results" / "mnist" / "svae-d5-seed0.json"
    result = json.loads(path.read_text())
    result["figures"]["ll"] += 1.0
    path.write_text(json.dumps(result))
    changed = {page for page, _ in complaints(project)}
    assert changed == {
        "README.md",
        "docs/results.md",
        "results/table1.md",
        "results/estimators.md",
    }


SPOILED = [
    ("README.md", "<!-- end of table -->\n", "", "expected `table: SOURCE.NAME`"),
    ("docs/results.md", "table: results.m1m2", "table: guess.m1m2", "expected a source"),
    ("docs/math.md", "| vmf_kl_uniform | KL | 4 | ", "| vmf_kl_uniform | KL | 4 | 9", "beyond"),
    ("docs/sampling.md", "| 5 | 150 | mu.z |", "| 5 | 15 | mu.z |", "other cases"),
    (
        "docs/performance_tables.md",
        "table: bench.growth",
        "table: bench.groth",
        "expected a section",
    ),
]


def test_spoiled_tables_are_noticed(project):
    for page, old, new, _ in SPOILED:
        path = project / page
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
    found = complaints(project)
    for page, _, _, complaint in SPOILED:
        assert any(where == page and complaint in what for where, what in found), complaint


def test_tables_of_benchmarks_come_from_their_files(project):
    """A later file wins; one without sampling is that of the goals; other tables stay."""
    before = (project / "docs" / "performance_tables.md").read_text()
    first = {"sampling": [1], "markdown": {"environment": "here\nnow", "step": "| old |"}}
    second = {"sampling": [], "markdown": {"environment": "there", "step": "| new |"}}
    files = []
    for name, document in (("first", first), ("second", second)):
        files.append(project / f"{name}.json")
        files[-1].write_text(json.dumps(document))
    answer = update(project, "bench", *files)
    assert (answer.returncode, answer.stdout) == (0, "docs/performance_tables.md: made anew\n")
    after = (project / "docs" / "performance_tables.md").read_text()
    for name, text in (
        ("environment", "here\n\nnow"),
        ("goals-environment", "there"),
        ("step", "| new |"),
    ):
        assert f"<!-- table: bench.{name} -->\n{text}\n<!-- end of table -->" in after
    memory = before.partition("bench.memory -->")[2].partition("<!-- end")[0]
    assert f"bench.memory -->{memory}<!-- end of table -->" in after
    assert update(project, "bench").returncode == 2
