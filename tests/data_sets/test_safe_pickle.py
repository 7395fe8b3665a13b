# SPDX-License-Identifier: MIT
"""Planetoid's pickles: the honest ones are read, a hostile one is refused and runs nothing."""

import contextlib
import os
import pickle
import pickletools
import re

import numpy as np
import pytest
from helpers.commands import python

from svmf.data.safe_pickle import MAX_FILE_BYTES, load_pickle
from svmf.errors import DataError


class Evil:
    def __init__(self, call, *args):
        self.call, self.args = call, args

    def __reduce__(self):
        return self.call, self.args


def refuse(path, content, message="refused|not a readable"):
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_pickle(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("call", [os.system, eval, exec, os.mkdir])
def test_code_does_not_run(tmp_path, protocol, call):
    mark = tmp_path / "mark"
    argument = (
        str(mark)
        if call is os.mkdir
        else f"touch {mark}"
        if call is os.system
        else (f"open({str(mark)!r}, 'w')")
    )
    refuse(tmp_path / "evil", pickle.dumps(Evil(call, argument), protocol))
    assert not mark.exists()


@pytest.mark.parametrize(
    "name",
    [
        b"os\nsystem\n",
        b"builtins\neval\n",
        b"__builtin__\neval\n",
        b"numpy\nload\n",
        b"numpy.core.multiarray\nscalar\n",
        b"numpy.f2py.crackfortran\nmyeval\n",
        b"collections\nOrderedDict\n",
        b"svmf.data.safe_pickle\nload_pickle\n",
    ],
)
def test_every_other_name_is_refused(tmp_path, name):
    refuse(tmp_path / "evil", b"\x80\x02c" + name + b")R.", "does not need")


def test_defaultdict_calls_nothing_but_list(tmp_path):
    content = b"\x80\x02ccollections\ndefaultdict\ncnumpy\ndtype\n\x85R."
    refuse(tmp_path / "evil", content, "calls something")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x02",
        b"garbage",
        b"\x80\x02K\x01.",  # a number
        b"\x80\x02]q\x01h\x01a.",  # a list that contains itself
        b"\x80\x02r\xff\xff\xff\x7f.",  # a memo index of 2**31
        b"\x80\x02T\xff\xff\xff\x7fabc.",  # a string that claims 2**31 bytes
        b"\x80\x05\x96" + (2**40).to_bytes(8, "little") + b".",  # a bytearray of a terabyte
        b"\x80\x02cnumpy\nndarray\n.",  # a bare type
        b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x01U\x01xu.",
    ],
)
def test_malformed_files_are_refused(tmp_path, content):
    refuse(tmp_path / "bad", content)


PROTOCOL = b"\x80\x02"
LIST_DICT = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R"
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
DEEP = b")" + b"\x85" * 1_000_000  # a tuple in a tuple in a tuple
LAUGHS = b")" + b"q\x01h\x01\x86" * 60  # (((), ()), ((), ())) and so on: 2^60 leaves
SHARED_LIST = (
    b"(K\x00]q\x01"
    + 60 * (b"(" + b"K\x00" * 9_000 + b"e")
    + b"".join(b"K" + bytes([node]) + b"h\x01" for node in range(1, 256))
)


GROWING = [
        (LIST_DICT + b"(" + DEEP + b"]u.", "expected integers in a tuple"),
        (ARRAY + b"(K\x01)cnumpy\ndtype\n" + DEEP + b"K\x00K\x01\x87R", "expected integers"),
        (LIST_DICT + b"(" + LAUGHS + b"]u.", "expected integers in a tuple"),
        (b"".join(b"Nr" + (1 << n).to_bytes(4, "little") for n in range(32)) + b".", "left behind"),
        (b"N" + b"".join(b"r" + n.to_bytes(4, "little") for n in range(300_000)), "remembers"),
        (b"N" * 20_000, "more than 10,000 values at once"),
        (b"]" + 300_000 * b"(]q\x01e" + b".", "expected integers to append"),
        (b"](" * 5_000 + b".", "a value is missing"),
        (b"(t" * 1 + b"](" + b"e(" * 1_000_000, "takes more than"),
        (b"(" + b"K\x00" * 5_000 + b"t.", "at most 8 values"),
        (b"}q\x01(U\x01ah\x01u.", "fields by name"),  # a dict in itself
        (LIST_DICT + b"q\x01(K\x00h\x01u.", "lists of numbers by number"),
        (LIST_DICT + SHARED_LIST + b"u.", "more neighbours than the file has bytes"),
        (b"ccollections\ndefaultdict\n" + b"N}(U\x0c__defaults__)u\x86b.", "list or dict inside"),
        (b"ccollections\ndefaultdict\n" + b"}(U\x0c__defaults__)ub.", "builds an object"),
        (b"U\x01a" + b"T\xff\xff\xff\xff" + bytes(1000), "the file ends here"),
        (b"c" + b"a" * 100_000 + b"\n", "expected a name"),
]  # fmt: skip


def test_nothing_grows_without_bound(tmp_path):
    """Depth, memo, stack, steps, aliases: each was a crash, a hang or a bomb in a general reader.
    In a process of its own, with little memory, because a crash of the interpreter counts too."""
    for number, (content, _) in enumerate(GROWING):
        (tmp_path / f"{number:02}").write_bytes(PROTOCOL + content)
    done = python("-c", READ_WITH_LITTLE_MEMORY, tmp_path, check=False, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-300:])
    assert len(lines) == len(GROWING)
    for line, (_, message) in zip(lines, GROWING, strict=True):
        assert re.search(message, line), line
        assert len(line) < 300


READ_WITH_LITTLE_MEMORY = """
import resource, sys, time
from pathlib import Path
from svmf.data.safe_pickle import load_pickle
from svmf.errors import DataError
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
for path in sorted(Path(sys.argv[1]).iterdir()):
    started = time.process_time()
    try:
        load_pickle(path)
        print(path, "was read", flush=True)
    except DataError as error:
        print(error, flush=True)
    assert time.process_time() - started < 10, path
"""


def test_pipe_is_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        load_pickle(tmp_path / "pipe")


def test_array_whose_shape_lies(tmp_path, data_dir):
    content = (data_dir / "planetoid" / "ind.cora.x").read_bytes()
    # the first array has shape (141,): make it claim 142
    place = next(
        position
        for opcode, argument, position in pickletools.genops(content)
        if opcode.name == "BININT1" and argument == 141
    )
    assert content[place + 1] == 141
    refuse(tmp_path / "bad", content[: place + 1] + bytes([142]) + content[place + 2 :], "refused")


def test_truncation_anywhere_is_refused(tmp_path, data_dir):
    content = (data_dir / "planetoid" / "ind.cora.x").read_bytes()
    for length in np.random.default_rng(0).integers(0, len(content), 50):
        refuse(tmp_path / "short", content[:length])


def test_flipped_bytes_never_crash(tmp_path, data_dir):
    """A damaged file is either refused or still a well-formed matrix: nothing else can come out."""
    content = bytearray((data_dir / "planetoid" / "ind.cora.y").read_bytes())
    random = np.random.default_rng(1)
    path = tmp_path / "flipped"
    for _ in range(200):
        damaged = content.copy()
        damaged[random.integers(len(damaged))] = random.integers(256)
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            assert isinstance(load_pickle(path), np.ndarray)


def test_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "huge"
    with path.open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(DataError, match="larger than"):
        load_pickle(path)
