# SPDX-License-Identifier: MIT
"""Planetoid's pickles: the honest ones are read, a hostile one is refused and runs nothing."""

import contextlib
import os
import pickle
import pickletools

import numpy as np
import pytest

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
    refuse(tmp_path / "evil", content, "another factory")


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
