# SPDX-License-Identifier: MIT
"""Checkpoints whose pickle is the attack: refused before torch follows it. Each in a process of its
own, because what they do without the check is to end it or to keep it."""

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from helpers.commands import python

from svmf.errors import RunError
from svmf.training import RunFolder, continue_run

START = b"\x80\x02}"
SHARED = b"q\x01h\x01\x86"  # a tuple that holds twice what was there
FORMAT = b"X\x06\0\0\0formatK\x01s"
ORDERED = b"ccollections\nOrderedDict\n"

HOSTILE = {
    "a key a million deep": START + b"K\0" + b"\x85" * 1_000_000 + b"K\1s.",
    "a key of 2^60 leaves": START + b")" + SHARED * 60 + b"K\1s.",
    "a constructor with such a key": START
    + ORDERED
    + b"](K\0"
    + b"\x85" * 100_000
    + b"K\1\x86e\x85Rs.",
    "a reference by such a key": START + b"K\0" + b"\x85" * 1_000_000 + b"Qs.",
    "a buffer of a terabyte": START + b"c__builtin__\nbytearray\n\x8a\6\0\0\0\0\0\1\x85Rs.",
    "a storage of a terabyte": START + b"ctorch\nFloatStorage\n\x8a\6\0\0\0\0\0\1\x85Rs.",
    "an opcode of others": START + b"(K\1K\2\x91s.",
    "a name of others": START + b"ctorch\nload\n.",
    "no end": START + b"(((",
    "nothing to take": START + b"ttt.",
}


def with_pickle(run: Path, change: Callable[[bytes], bytes]) -> None:
    source, out = zipfile.ZipFile(run / "checkpoint.pt"), io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, change(content) if name.endswith("data.pkl") else content)
    (run / "checkpoint.pt").write_bytes(out.getvalue())


READ = """
import sys
from svmf.errors import RunError
from svmf.training import RunFolder
for path in sys.argv[1:]:
    try:
        RunFolder(path).load_checkpoint()
    except RunError as error:
        print(error)
"""


def test_a_pickle_is_refused_before_it_is_followed(finished: Path, tmp_path: Path) -> None:
    folders = []
    for number, program in enumerate(HOSTILE.values()):
        folders.append(tmp_path / str(number))
        shutil.copytree(finished, folders[-1])
        with_pickle(folders[-1], lambda _, program=program: program)
    done = python("-c", READ, *folders, check=False, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines, done.stderr[-500:])
    assert len(lines) == len(HOSTILE)
    for folder, line in zip(folders, lines, strict=True):
        assert line.startswith(f"{folder}/checkpoint.pt: not a readable checkpoint: ")
        assert len(line) < len(str(folder)) + 300


def test_a_long_pickle_is_refused_unread(run: Path) -> None:
    """4 MB of lists in lists kept the check busy for seconds."""
    with_pickle(run, lambda _: START + b"K\0" + b"]" * 4_000_000 + b"s.")
    with pytest.raises(RunError, match=r"data\.pkl has more than 1 MiB"):
        RunFolder(run).load_checkpoint()


def test_a_shared_list_is_not_written_out(run: Path) -> None:
    """A message would have 2^60 parts."""
    path = run / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    value: list[object] = []
    for _ in range(60):
        value = [value, value]
    state["config"]["hidden"] = value
    torch.save(state, path)
    with pytest.raises(RunError, match="option 'hidden' must be a list of integers") as caught:
        continue_run(run)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("change", ["before", "behind", "twice", "two folders"])
def test_archives_that_two_readers_could_read_differently(run: Path, change: str) -> None:
    path = run / "checkpoint.pt"
    content = path.read_bytes()
    if change == "before":
        path.write_bytes(content[:50] + content)
    elif change == "behind":
        path.write_bytes(content[:-2] + b"\1\0x")
    else:
        name = "archive/data.pkl" if change == "twice" else "other/data"
        with zipfile.ZipFile(path, "a") as archive, pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            archive.writestr(name, b"\x80\x02}.")
    with pytest.raises(RunError, match=r"checkpoint\.pt: not a readable checkpoint"):
        RunFolder(run).load_checkpoint()


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.uint16, torch.float64]
)
def test_tensors_of_every_type_are_taken(tmp_path: Path, dtype: torch.dtype) -> None:
    """Modules of one's own may have any."""
    folder = RunFolder(tmp_path)
    shared = torch.zeros(6, dtype=dtype)
    folder.save_checkpoint({"format": 1, "x": shared, "y": shared.view(2, 3).t()})
    state = folder.load_checkpoint()
    assert state is not None
    assert state["y"].dtype == dtype
    assert state["y"].shape == (3, 2)
