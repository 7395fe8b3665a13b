# SPDX-License-Identifier: MIT
"""The tables that show results say what the JSON files in results/ say."""

import json
import shutil
import subprocess
import sys

import pytest
from helpers.paths import PROJECT

PAGES = ("README.md", "docs/results.md")


def check(project):
    return subprocess.run(
        [sys.executable, str(project / "tools" / "update_results.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path):
    """What the tool reads, to be changed."""
    for name in (*PAGES, "tools/update_results.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    for name in ("results", "reproduction"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    return tmp_path


def test_tables_are_up_to_date():
    answer = check(PROJECT)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_changed_result_is_noticed(project):
    path = project / "results" / "mnist" / "svae-d5-seed0.json"
    result = json.loads(path.read_text())
    result["figures"]["ll"] += 1.0
    path.write_text(json.dumps(result))
    answer = check(project)
    assert answer.returncode == 1
    changed = {line.partition(":")[0] for line in answer.stdout.splitlines()}
    assert changed == {*PAGES, "results/table1.md", "results/estimators.md"}
