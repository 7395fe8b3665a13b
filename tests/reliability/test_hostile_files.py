# SPDX-License-Identifier: MIT
"""Files from strangers: size bombs, lying headers, wrong types, random damage. Each is refused with
one error of ours, at once, and without the memory that it asks for. (What is particular to one
format is tested beside its reader: tests/data_sets, tests/training/test_resume.py.)"""

import io
import json
import random
import resource
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import torch

from svmf.data.idx import read_idx
from svmf.data.planetoid import load_npz
from svmf.errors import DataError, RunError, UserError
from svmf.training import RunFolder, continue_run

NEGATIVE = -1


def rewritten(content: bytes, compression: int, change: Callable[[str, bytes], bytes]) -> bytes:
    out = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(content))
    with zipfile.ZipFile(out, "w", compression) as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return out.getvalue()


def test_checkpoint_bomb_is_not_unpacked(run: Path) -> None:
    """A gigabyte of zeros in a megabyte."""
    path = run / "checkpoint.pt"
    bomb = rewritten(
        path.read_bytes(),
        zipfile.ZIP_DEFLATED,
        lambda name, data: bytes(1 << 30) if name.endswith("data/0") else data,
    )
    assert len(bomb) < 1 << 22
    path.write_bytes(bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RunError, match="unpacks to more than its size"):
        continue_run(run)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_damaged_checkpoints_are_refused(run: Path) -> None:
    """A flipped bit in a tensor is noticed too: training must not go on with it."""
    path = run / "checkpoint.pt"
    content, chance = path.read_bytes(), random.Random(3)
    data = max(zipfile.ZipFile(path).infolist(), key=lambda entry: entry.file_size)
    inside = content.index(data.filename.encode()) + 200
    places = [inside, *(chance.randrange(len(content)) for _ in range(60))]
    refused = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        text = refusal(RunFolder(run).load_checkpoint)
        if text is None:  # padding, or a field that nobody reads
            assert place != inside
            continue
        refused += 1
        assert str(path) in text
        assert "\n" not in text
    assert refused >= 20


def test_checkpoint_of_another_archive_format(run: Path) -> None:
    path = run / "checkpoint.pt"
    torch.save({"format": 1}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RunError, match="not a readable checkpoint"):
        continue_run(run)
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("../../escaped"))
    with pytest.raises(RunError, match="not a readable checkpoint"):
        continue_run(run)
    assert not (run.parent.parent / "escaped").exists()


def refusal(call: Callable[[], object]) -> str | None:
    """The text of the error of ours that the call ends in; None if there is none."""
    try:
        call()
    except UserError as error:
        return str(error)
    return None


def test_parts_of_a_checkpoint_have_wrong_types(run: Path) -> None:
    path, metrics = run / "checkpoint.pt", (run / "metrics.jsonl").read_bytes()
    state = torch.load(path, weights_only=True)
    for part in sorted(set(state) - {"format"}):
        for wrong in (None, "text", NEGATIVE, [], {}, torch.zeros(3), [torch.zeros(7)], 2**70):
            torch.save({**state, part: wrong}, path)
            (run / "metrics.jsonl").write_bytes(metrics)
            text = refusal(lambda: continue_run(run, {"epochs": 2}))
            assert text is None or "\n" not in text
            numbers = part in ("epoch", "step", "metrics_length") and wrong is NEGATIVE
            if numbers or part in ("model", "optimizer", "random", "stopping", "sums"):
                assert text is not None, f"{part} = {wrong!r} was accepted"


def test_random_configurations(run: Path) -> None:
    """Every option with every wrong type, and text damaged at random."""
    path = run / "config.json"
    good = json.loads(path.read_text())
    for name in good:
        for wrong in ([], {}, "text", -1, 1e400, True, None, 2**70, [1] * 1000):
            path.write_text(json.dumps({**good, name: wrong}))
            text = refusal(RunFolder(run).read_config)
            assert text is None or "\n" not in text
    whole, chance = json.dumps(good), random.Random(4)
    for _ in range(300):
        damaged = list(whole)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged))] = chr(chance.randrange(1, 0x2000))
        path.write_text("".join(damaged))
        refusal(RunFolder(run).read_config)


def test_huge_configuration_is_refused_unread(run: Path) -> None:
    with (run / "config.json").open("wb") as stream:
        stream.truncate(1 << 40)  # a hole: no disk is used
    with pytest.raises(RunError, match="larger than 1 MiB"):
        continue_run(run)


def npz_with_header(path: Path, header: str) -> None:
    """An archive whose array claims what its header says, with eight bytes behind it."""
    text = header.encode().ljust(117) + b"\n"
    entry = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("feat_shape", "edge_index"):
            archive.writestr(f"{name}.npy", entry)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2, 2)}",
        "__import__('os').abort()",
        "{'descr': '<i8'",
        "[" * 100,
    ],
)
def test_arrays_with_lying_headers(tmp_path: Path, header: str) -> None:
    path = tmp_path / "graph.npz"
    npz_with_header(path, header)
    with pytest.raises(DataError, match="not a graph archive"):
        load_npz(path)


def test_archive_that_lies_about_its_size(tmp_path: Path) -> None:
    """The directory claims a small entry, the data unpack to a large one."""
    path = tmp_path / "graph.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("feat_shape.npy", bytes(1 << 28))
    content = bytearray(path.read_bytes())
    size = (1 << 28).to_bytes(4, "little")
    while (place := content.find(size)) >= 0:
        content[place : place + 4] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="not a graph archive"):
        load_npz(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_damaged_archives_and_images_never_crash(tmp_path: Path, finished: Path) -> None:
    archive, chance = tmp_path / "graph.npz", random.Random(5)
    numpy.savez(
        archive,
        edge_index=numpy.array([[0, 1], [1, 2]]),
        feat_data=numpy.ones(3, numpy.float32),
        feat_indices=numpy.arange(3),
        feat_indptr=numpy.arange(4),
        feat_shape=numpy.array([3, 3]),
        labels=numpy.zeros(3, numpy.int64),
    )
    image = tmp_path / "train-images-idx3-ubyte.gz"
    image.write_bytes((finished.parent / "images" / image.name).read_bytes())
    for path, read in ((archive, load_npz), (image, read_idx)):
        content = path.read_bytes()
        for _ in range(300):
            damaged = bytearray(content)
            for _ in range(chance.randrange(1, 5)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            if chance.random() < 0.3:
                del damaged[chance.randrange(len(damaged)) :]
            path.write_bytes(damaged)
            text = refusal(lambda read=read, path=path: read(path))
            assert text is None or str(path) in text


def test_no_reader_runs_an_unrestricted_pickle() -> None:
    """The package calls no loader that can run code: checked in its sources."""
    import svmf

    sources = Path(svmf.__file__).parent.rglob("*.py")
    text = {path: path.read_text() for path in sources}
    for path, content in text.items():
        assert "pickle.load" not in content, path
        assert "allow_pickle=True" not in content, path
        assert "weights_only=False" not in content, path
        assert "extractall" not in content, path
        assert "yaml.load" not in content, path
        assert "eval(" not in content.replace(".eval()", "").replace("model.eval(", ""), path
        for line in content.splitlines():
            assert "torch.load(" not in line or "weights_only=True" in line, (path, line)
