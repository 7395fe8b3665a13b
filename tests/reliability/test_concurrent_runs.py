# SPDX-License-Identifier: MIT
"""Several processes at one run folder, refused starts, and what lies in the way of our names."""

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import python
from reliability.tiny_run import tiny_config, write_images

from svmf.errors import RunError
from svmf.training import RunFolder, continue_run, make_config, start_run
from svmf.training.files import FileLock, atomic_write

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["svmf.training.run", "sklearn.metrics"])


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("tiny") / "images")


def _start(config: Any, out: Path, gate: Any, results: Any) -> None:
    gate.wait()
    try:
        results.put((config.dim, start_run(config, out).finished))
    except RunError as error:
        results.put((config.dim, str(error)))


def test_two_starts_at_once_have_one_winner(images: Path, tmp_path: Path) -> None:
    """The configuration and the checkpoint on disk are the winner's; the loser is told."""
    for trial in range(4):
        out = tmp_path / f"run{trial}"
        gate, results = _CONTEXT.Barrier(2), _CONTEXT.Queue()
        configs = [
            make_config("svae", data=str(images), dim=dim, hidden=(10,), batch_size=20, epochs=2)
            for dim in (2, 3)
        ]
        processes = [
            _CONTEXT.Process(target=_start, args=(config, out, gate, results)) for config in configs
        ]
        for process in processes:
            process.start()
        answers = dict(results.get(timeout=120) for _ in processes)
        for process in processes:
            process.join()
        winners = [dim for dim, answer in answers.items() if answer is True]
        assert len(winners) == 1, answers
        (refusal,) = (answer for answer in answers.values() if answer is not True)
        assert "another process is training this run" in refusal or "already holds" in refusal
        assert json.loads((out / "config.json").read_text())["dim"] == winners[0]
        assert continue_run(out).finished, "configuration and checkpoint belong together"


def test_a_start_that_finds_the_lock_held_writes_nothing(images: Path, tmp_path: Path) -> None:
    """Its configuration would stand beside the other's checkpoint."""
    held = FileLock(tmp_path / ".lock")
    assert held.acquire()
    with pytest.raises(RunError, match="another process is training this run"):
        start_run(tiny_config(images, 1), tmp_path)
    held.release()
    assert entries(tmp_path) == [".lock"]


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("out", ["run", "a/b/run"])
def test_a_refused_start_leaves_nothing_behind(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    import shutil

    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: usage)
        with pytest.raises(RunError, match="are free"):
            start_run(tiny_config(images, 1), tmp_path / out)
    assert entries(tmp_path) == []
    assert start_run(tiny_config(images, 1), tmp_path / out).finished


def test_what_was_there_before_stays(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(RunError, match="are free"):
        start_run(tiny_config(images, 1), tmp_path / "run")
    assert entries(tmp_path) == ["notes.txt", "run"]


def test_a_start_on_a_run_changes_nothing(images: Path, tmp_path: Path) -> None:
    start_run(tiny_config(images, 1), tmp_path / "run")
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    with pytest.raises(RunError, match="already holds a run"):
        start_run(tiny_config(images, 2), tmp_path / "run")
    with pytest.raises(RunError, match="already holds a run"):
        RunFolder(tmp_path / "run").create(tiny_config(images, 2))
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()} == before


@pytest.mark.parametrize("name", ["checkpoint.pt", "metrics.jsonl", "timing.jsonl"])
def test_remains_of_another_run_are_not_taken(images: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"remains")
    with pytest.raises(RunError, match=f"has a {name} but no run"):
        start_run(tiny_config(images, 1), tmp_path)
    assert entries(tmp_path) == [name]


def test_links_at_our_names_are_not_followed(images: Path, tmp_path: Path) -> None:
    """At the lock, and at what used to be the temporary names."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    for name in (".config.json.tmp", ".checkpoint.pt.tmp"):
        (run / name).symlink_to(victim)
    start_run(tiny_config(images, 1), run)
    assert victim.read_text() == "precious"
    (run / ".lock").unlink()
    (run / ".lock").symlink_to(victim)
    with pytest.raises(RunError, match="not writable: Too many levels of symbolic links"):
        continue_run(run, {"epochs": 2})
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["metrics.jsonl", "timing.jsonl"])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_run_appends_to_no_file_elsewhere(
    images: Path, tmp_path: Path, name: str, dangling: bool
) -> None:
    """A folder from a stranger may have a link where a run would append its lines."""
    run, victim = tmp_path / "run", tmp_path / "victim"
    start_run(tiny_config(images, 1), run)
    content = (run / name).read_bytes()
    if not dangling:
        victim.write_bytes(content)
    (run / name).unlink()
    (run / name).symlink_to(victim)
    with pytest.raises(RunError, match=f"{name}: a symbolic link"):
        continue_run(run, {"epochs": 2})
    assert not victim.exists() if dangling else victim.read_bytes() == content


def test_temporary_names_are_new(tmp_path: Path) -> None:
    names = set()
    for _ in range(3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", lambda source, _: names.add(Path(source).name))
            atomic_write(tmp_path / "file", b"content")
    assert len(names) == 3


def test_a_link_at_a_temporary_name_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if somebody guesses the name."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    victim, link = tmp_path / "victim", tmp_path / ".file.guessed.tmp"
    victim.write_text("precious")
    link.symlink_to(victim)
    with pytest.raises(RunError, match="file: cannot be written: File exists"):
        atomic_write(tmp_path / "file", b"content")
    assert victim.read_text() == "precious"
    assert link.is_symlink()


def test_temporaries_of_killed_runs_are_swept(images: Path, tmp_path: Path) -> None:
    start_run(tiny_config(images, 1), tmp_path / "run")
    (tmp_path / "run" / ".checkpoint.pt.0123456789abcdef.tmp").write_bytes(b"half")
    continue_run(tmp_path / "run", {"epochs": 2})
    assert not list((tmp_path / "run").glob(".*.tmp"))


@pytest.mark.parametrize("name", ["config.json", "checkpoint.pt", "metrics.jsonl", "timing.jsonl"])
@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_files_that_are_no_files(images: Path, tmp_path: Path, name: str, kind: str) -> None:
    """Refused at once: a pipe would block for ever, a device never end."""
    run = tmp_path / "run"
    start_run(tiny_config(images, 1), run)
    (run / name).unlink()
    if kind == "fifo":
        os.mkfifo(run / name)
    elif kind == "device":
        (run / name).symlink_to("/dev/zero")
    else:
        (run / name).mkdir()
    with pytest.raises(RunError, match=name) as caught:
        continue_run(run, {"epochs": 2})
    assert "\n" not in str(caught.value)


def test_a_pipe_at_the_lock(images: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    start_run(tiny_config(images, 1), run)
    (run / ".lock").unlink()
    os.mkfifo(run / ".lock")
    with pytest.raises(RunError, match=r"\.lock: not a regular file"):
        continue_run(run)


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000, "nul\0inside"])
def test_impossible_paths(images: Path, name: str) -> None:
    for call in (
        lambda: start_run(tiny_config(images, 1), name),
        lambda: continue_run(name),
    ):
        with pytest.raises(RunError) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500


def test_a_lock_whose_file_was_removed_is_taken_anew(tmp_path: Path) -> None:
    """Otherwise two processes could hold two files of the same name."""
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.acquire()
    assert not second.acquire()
    first.release(remove=True)
    assert second.acquire()
    assert not FileLock(tmp_path / "lock").acquire()
    second.release()
    assert first.acquire()
    first.release()


def test_without_fcntl(tmp_path: Path) -> None:
    """As on Windows: the lock is msvcrt's."""
    program = f"""
import sys, types, torch
sys.modules["fcntl"] = None
held = set()
def locking(descriptor, mode, size):
    assert (mode, size) == (7, 1)
    if held:
        raise OSError(13, "locked")
    held.add(descriptor)
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=7, locking=locking)
import svmf.training.run
from pathlib import Path
from svmf.training.files import FileLock
path = Path({str(tmp_path / "lock")!r})
lock = FileLock(path)
assert lock.acquire() and not FileLock(path).acquire()
lock.release()
"""
    python("-c", program)
