# SPDX-License-Identifier: MIT
"""A busy machine is noticed, said, and kept out of the documentation."""

import json
import multiprocessing
import sys
import time
from pathlib import Path

import pytest
from helpers.paths import PROJECT

from benchmarks import laboratory, quiet
from benchmarks.__main__ import main
from svmf.benchmarking.cases import Case, Shape
from svmf.benchmarking.sampler import Measurement
from svmf.benchmarking.timing import Timing

sys.path.insert(0, str(PROJECT / "tools"))
import bench_tables


def measured(spread: float) -> Measurement:
    timing = Timing(1.0, 1 - spread / 2, 1 + spread / 2, 0.9, 9, 2.0)
    return Measurement(Case("step", Shape(1, 8, 3)), "", {"svmf": timing})


def test_what_is_called_busy() -> None:
    assert quiet.busy_text(0.05, [measured(0.1)], 2) is None
    assert quiet.busy_text(None, [], 2) is None
    assert "kept 1.4 of 2 cores busy" in str(quiet.busy_text(1.4, [], 2))
    assert "are 80% apart" in str(quiet.busy_text(None, [measured(0.8)], 2))


def work(seconds: float) -> None:
    """Takes that much time of a processor, however busy the machine is."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.skipif(quiet._machine_seconds() is None, reason="the kernel does not count CPU time")
def test_another_program_is_seen() -> None:
    """A child that has not ended is nobody of ours yet."""
    watch, start = quiet.Watch(), time.monotonic()
    other = multiprocessing.get_context("fork").Process(target=work, args=(60.0,))
    other.start()
    time.sleep(1.5)
    others, elapsed = watch.others(), time.monotonic() - start
    other.kill()
    other.join()
    assert others is not None
    assert others * elapsed > 0.1


def test_ones_own_work_is_not_counted(monkeypatch) -> None:
    """The machine's time is given, the process's own is real."""
    monkeypatch.setattr(quiet, "_machine_seconds", lambda: time.process_time())
    monkeypatch.setattr(quiet.Watch, "_mine", staticmethod(time.process_time))
    watch = quiet.Watch()
    work(0.2)
    time.sleep(1.0)
    assert watch.others() == pytest.approx(0.0, abs=0.01)


def test_a_busy_run_says_so_and_is_refused_for_the_docs(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(laboratory.Watch, "others", lambda _: 1.7)
    arguments = ["--op", "iv_ratio", "--quick", "--seconds", "0.01", "--json", "busy.json"]
    assert main(arguments) == 0
    assert "this machine was busy: other programs kept 1.7 of" in capsys.readouterr().out
    assert "1.7 of" in json.loads(Path("busy.json").read_text())["busy"]
    with pytest.raises(SystemExit, match=r"busy.json: this machine was busy"):
        bench_tables.read([Path("busy.json")])


def test_the_summary_has_instruction_sets_side_by_side() -> None:
    def document(name: str, values: list[float]) -> dict:
        line = {"what": "sample", "against": "Normal", "scope": "64 rows", "goal": 1.0}
        line |= {"unit": "", "values": values, "places": [""] * 3, "limits": [], "met": 0}
        return {"environment": {"instruction set": name}, "goals": [line]}

    text = bench_tables.summary([document("avx512", [0.2, 0.3, 0.5]), document("avx2", [0.4] * 3)])
    head, _, row = text.splitlines()
    assert [cell.strip() for cell in head.split("|")[4:6]] == ["avx512", "avx2"]
    assert [cell.strip() for cell in row.split("|")[4:6]] == ["0.30, at most 0.50", "0.40"]
