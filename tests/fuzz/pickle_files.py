# SPDX-License-Identifier: MIT
"""Hostile pickles by grammar: programs of the opcodes that Planetoid's files use, honest objects
with parts replaced, and bombs (deep, aliased, endless). Whatever comes, the reader gives plain data
or one DataError, soon and in little memory."""

import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fuzz.checks import require
from fuzz.strangers import damaged, read_hostile
from fuzz.values import Chance

from svmf.data import safe_pickle
from svmf.data.pickle_objects import CsrMatrix

BYTES_PER_BYTE = 200  # a list takes 64 bytes for one, an array 112 for two

NAMES = (
    b"numpy.core.multiarray\n_reconstruct\n", b"numpy\nndarray\n", b"numpy\ndtype\n",
    b"scipy.sparse.csr\ncsr_matrix\n", b"collections\ndefaultdict\n", b"__builtin__\nlist\n",
    b"os\nsystem\n", b"builtins\neval\n", b"svmf.data.safe_pickle\nload_pickle\n", b"\n\n",
)  # fmt: skip
MARKED = (b"t", b"e", b"u")
PLAIN = (b"N", b"\x88", b"\x89", b")", b"]", b"}", b"(", b"a", b"R", b"b", b"\x81", b"\x85",
         b"\x86", b"\x87", b".", *MARKED)  # fmt: skip
OTHER = b"0123IFSVXBC\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97PQdgilopsG\x80\x82"


def number(chance: Chance) -> bytes:
    """A number in one of its three forms."""
    value = chance.pick((0, 1, 2, 3, 8, 255, 256, 65535, -1, 2**31 - 1, -(2**31)))
    if chance.one_in(2):
        return b"K" + bytes([value & 255])
    return b"M" + struct.pack("<H", value & 65535) if chance.one_in(2) else b"J" + signed(value)


def signed(value: int) -> bytes:
    return struct.pack("<i", value)


def string(chance: Chance) -> bytes:
    text = chance.pick((b"", b"b", b"<", b"i4", b"f8", b"O", b"data", b"indices", b"indptr",
                        b"_shape", bytes(8), b"x" * 70))  # fmt: skip
    if chance.one_in(20):  # a length that lies
        return b"T" + struct.pack("<I", chance.pick((2**32 - 1, 2**31, len(text) + 1))) + text
    return b"U" + bytes([len(text)]) + text


def memo(chance: Chance) -> bytes:
    index = chance.pick((0, 1, 2, 3, 255))
    if chance.one_in(2):
        return chance.pick((b"q", b"h")) + bytes([index])
    index = chance.pick((index, 2**31, 2**32 - 1))
    return chance.pick((b"r", b"j")) + struct.pack("<I", index)


def any_program(chance: Chance) -> bytes:
    """Opcodes one after the other, most of which fail at once: small, for many of them."""
    makers: tuple[Callable[[Chance], bytes], ...] = (
        number, string, memo, lambda c: c.pick(PLAIN), lambda c: c.pick(PLAIN),
        lambda c: b"c" + c.pick(NAMES), value,
    )  # fmt: skip
    parts = [chance.pick(makers)(chance) for _ in range(chance.random.randrange(40))]
    if chance.one_in(6):
        place = chance.random.randrange(len(OTHER))
        parts.append(OTHER[place : place + 1] + chance.random.randbytes(4))
    return b"".join(parts) + b"."


def value(chance: Chance, depth: int = 3) -> bytes:
    """A value that leaves one thing on the stack, usually."""
    kind = chance.random.randrange(10 if depth else 3)
    inner = (
        [value(chance, depth - 1) for _ in range(chance.random.randrange(5))] if kind > 2 else []
    )
    if kind < 3:
        return (number, string, memo)[kind](chance)
    if kind == 3:
        return b"(" + b"".join(inner) + b"t"
    if kind == 4:
        return b"](" + b"".join(inner) + b"e"
    if kind == 5:
        return b"}(" + b"".join(string(chance) + part for part in inner) + b"u"
    return chance.pick((dtype, array, csr, adjacency))(chance)


def maybe(chance: Chance, honest: bytes) -> bytes:
    """The honest part, or one time in fifteen something else."""
    return value(chance, 2) if chance.one_in(15) else honest


def dtype(chance: Chance, code: bytes = b"i4") -> bytes:
    state = b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"
    call = maybe(chance, b"U" + bytes([len(code)]) + code) + b"K\x00K\x01\x87"
    return b"cnumpy\ndtype\n" + maybe(chance, call) + b"R" + maybe(chance, state) + b"b"


def array(chance: Chance, content: np.ndarray | None = None) -> bytes:
    if content is None:
        content = np.arange(chance.random.randrange(6), dtype="<i4")
    sizes = b"".join(b"J" + signed(size) for size in content.shape)
    if chance.one_in(15):
        sizes = b"".join(number(chance) for _ in range(chance.random.randrange(4)))
    data = content.tobytes()
    body = b"T" + struct.pack("<I", len(data)) + data
    made = b"cnumpy.core.multiarray\n_reconstruct\n" + maybe(
        chance, b"cnumpy\nndarray\nK\x00\x85U\x01b\x87"
    )
    code = content.dtype.str[1:].encode()
    parts = (b"K\x01", b"(" + sizes + b"t", dtype(chance, code), b"\x89", body)
    state = b"(" + b"".join(maybe(chance, part) for part in parts) + b"t"
    return made + b"R" + maybe(chance, state) + b"b"


def csr(chance: Chance) -> bytes:
    rows, columns = chance.random.randrange(5), 1 + chance.random.randrange(5)
    lengths = [chance.random.randrange(3) for _ in range(rows)]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype("<i4")
    entries = int(indptr[-1])
    indices = np.array([chance.random.randrange(columns) for _ in range(entries)], "<i4")
    arrays = [np.ones(entries, "<f4"), indices, indptr]
    if chance.one_in(6):
        wrong = chance.random.randrange(3)
        arrays[wrong] = chance.pick((arrays[wrong][::-1], arrays[wrong] - 1, arrays[wrong][:-1]))
    named = zip((b"data", b"indices", b"indptr"), arrays, strict=True)
    fields = [b"U" + bytes([len(n)]) + n + maybe(chance, array(chance, a)) for n, a in named]
    shape = b"K" + bytes([rows]) + b"K" + bytes([columns]) + b"\x86"
    fields.append(b"U\x06_shape" + maybe(chance, shape))
    chance.random.shuffle(fields)
    made = b"cscipy.sparse.csr\ncsr_matrix\n)\x81"
    return maybe(chance, made) + b"}(" + b"".join(fields) + b"u" + b"b"


def adjacency(chance: Chance) -> bytes:
    rows = []
    for node in range(chance.random.randrange(6)):
        ends = b"".join(number(chance) for _ in range(chance.random.randrange(5)))
        rows.append(maybe(chance, b"K" + bytes([node])) + maybe(chance, b"](" + ends + b"e"))
    made = b"ccollections\ndefaultdict\n" + maybe(chance, b"c__builtin__\nlist\n\x85") + b"R"
    return made + b"(" + b"".join(rows) + b"u"


def bomb(chance: Chance) -> bytes:
    """Something that grows: deeper, wider or longer with each of a few bytes."""
    count = int(chance.log_uniform(10, 20_000 if not chance.one_in(20) else 600_000))
    start = chance.pick(
        (b"", b")", b"]", b"}", b"N", b"ccollections\ndefaultdict\n", value(chance))
    )
    step = b"".join(
        chance.pick((b"\x85", b"\x86", b"(", b"t", b"e", b"u", b"a", b"]", b"}", b")", b"N",
                     b"K\x00", b"q\x01", b"h\x01", b"q\x01h\x01\x86", b"q\x01(h\x01h\x01t", b"R",
                     b"b", b"]q\x01",
                     b"r" + struct.pack("<I", chance.random.getrandbits(32))))
        for _ in range(chance.random.randrange(1, 4))
    )  # fmt: skip
    if chance.one_in(3):  # numbered, so that the memo or a dict grows
        numbered = b"".join(step + b"r" + struct.pack("<I", n) for n in range(min(count, 50_000)))
        return start + numbered + b"."
    head = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
    return (head if chance.one_in(3) else b"") + start + step * count + b"u."


def hostile_pickle(chance: Chance) -> bytes:
    kind = chance.random.randrange(10)
    if kind < 2:
        body = any_program(chance)
    elif kind < 8:
        body = chance.pick((array, csr, adjacency, value))(chance) + b"."
    else:
        body = bomb(chance)
    content = b"\x80\x02" + body
    return damaged(chance, content) if chance.one_in(5) else content


def require_plain(result: object) -> None:
    """Only what the reader promises, to the last element."""
    if isinstance(result, np.ndarray):
        require(result.dtype.kind in "if" and result.ndim <= 2, f"an array {result.dtype}")
    elif isinstance(result, CsrMatrix):
        rows, columns = result.shape
        sound = result.indptr.shape == (rows + 1,) and result.indptr[-1] == len(result.indices)
        inside = all(0 <= index < columns for index in result.indices.tolist())
        require(bool(sound) and inside, "an unsound CSR matrix")
    else:
        require(type(result) is dict, f"a {type(result).__name__}")
        plain = all(type(k) is int and all(type(e) is int for e in v) for k, v in result.items())  # type: ignore[attr-defined]
        require(plain, "an adjacency of something else than integers")


def random_pickle_file(chance: Chance) -> str:
    """Reads one hostile file and holds the reader to its promises."""
    content = hostile_pickle(chance)
    before = vars(safe_pickle).copy()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ind.graph.x"
        path.write_bytes(content)
        outcome = read_hostile(
            lambda: safe_pickle.load_pickle(path), require_plain, len(content), BYTES_PER_BYTE
        )
    require(vars(safe_pickle) == before, "the reader's own module was changed")
    return f"pickle.{outcome} bytes={len(content)}"
