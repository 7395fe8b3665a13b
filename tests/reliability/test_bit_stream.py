# SPDX-License-Identifier: MIT
"""Serial tests of the random words, in the four orders in which the sampler's users meet them: over
rows, over the blocks of a row, over neighbouring seeds, and over the rows' direction words.

Each test ends in a p-value; the false-alarm rate of all together is that of
helpers/gof.py. A million words each by default, 270 million in `make test-statistics`.
"""

import math
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest
import scipy.stats
from helpers import gof
from helpers.building import compiled
from numpy.typing import NDArray

Words = NDArray[numpy.uint32]
ORDERS = ("rows", "blocks", "seeds", "normals")
QUICK, MANY, PART = 1 << 20, 1 << 28, 1 << 22


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("words") / "words"
    return compiled(Path(__file__).with_name("words.cpp"), made, "-O2")


def _fair(heads: int, n: int) -> float:
    """p-value of so many heads of a fair coin, n being large."""
    return gof.mean(heads / n, 0.5, 0.25, n)


def bits_are_fair(words: Words) -> list[float]:
    """Each of the 32 bits is set half of the time."""
    return [_fair(int((words >> b & 1).sum()), words.size) for b in range(32)]


def bits_are_uncorrelated(words: Words) -> list[float]:
    """A word and its successors agree in half of their bits."""
    p_values = []
    for lag in (1, 2, 3, 4, 8, 16, 32, 64, 1024):
        same = numpy.bitwise_count(~(words[:-lag] ^ words[lag:])).sum(dtype=numpy.int64)
        p_values.append(_fair(int(same), 32 * (words.size - lag)))
    return p_values


def bits_within_a_word(words: Words) -> list[float]:
    """No two bits of a word are alike more often than not."""
    return [
        _fair(int(((words >> a ^ words >> b) & 1).sum()), words.size)
        for a, b in ((0, 1), (0, 16), (15, 16), (0, 31), (7, 24), (30, 31), (3, 29))
    ]


def equidistributed(cells: NDArray[numpy.int64], count: int) -> float:
    seen = numpy.bincount(cells, minlength=count)
    expected = cells.size / count
    return gof.chi_square(float(((seen - expected) ** 2).sum() / expected), count - 1)


def bytes_and_halves(words: Words) -> list[float]:
    """Bytes and 16-bit halves take every value equally often."""
    p_values = [equidistributed((words >> s & 0xFF).astype(numpy.int64), 256) for s in (0, 8, 24)]
    return p_values + [
        equidistributed((words >> s & 0xFFFF).astype(numpy.int64), 1 << 16) for s in (0, 16)
    ]


def serial_pairs(words: Words) -> list[float]:
    """The top and the bottom eight bits of a word and of a later one, as a cell of a square."""
    p_values = []
    for lag in (1, 4, 16):
        for shift in (24, 0):
            part = (words >> shift & 0xFF).astype(numpy.int64)
            p_values.append(equidistributed(part[:-lag] << 8 | part[lag:], 1 << 16))
    return p_values


def runs(words: Words) -> list[float]:
    """The number of runs above and below the middle (Wald and Wolfowitz)."""
    high = words >> 31 == 1
    ones = int(high.sum())
    zeros, n = high.size - ones, high.size
    changes = int((high[1:] != high[:-1]).sum())
    mean = 2.0 * ones * zeros / n
    variance = mean * (mean - 1) / (n - 1)
    return [math.erfc(abs(changes - mean) / math.sqrt(2 * variance))]


def gaps(words: Words) -> list[float]:
    """Distances between words below 2^32/16 are geometric (Knuth, volume 2, 3.3.2)."""
    distance = numpy.diff(numpy.flatnonzero(words < 1 << 28)) - 1
    cells, p = 100, 1 / 16
    seen = numpy.bincount(numpy.minimum(distance, cells), minlength=cells + 1)
    share = numpy.append(p * (1 - p) ** numpy.arange(cells), (1 - p) ** cells)
    expected = distance.size * share
    return [gof.chi_square(float(((seen - expected) ** 2 / expected).sum()), cells)]


def birthday_spacings(words: Words) -> list[float]:
    """Equal spacings between 4096 sorted days of a year of 2^32: Poisson with mean n^3/(4 year)
    (Marsaglia)."""
    days = 4096
    years = words[: words.size // days * days].reshape(-1, days).astype(numpy.int64)
    spacings = numpy.sort(numpy.diff(numpy.sort(years, axis=1), axis=1), axis=1)
    equal = int((spacings[:, 1:] == spacings[:, :-1]).sum())
    mean = years.shape[0] * days**3 / 2**34
    return [min(1.0, 2 * min(scipy.stats.poisson.cdf(equal, mean), _at_least(equal, mean)))]


def _at_least(count: int, mean: float) -> float:
    return float(scipy.stats.poisson.sf(count - 1, mean))


def collisions(words: Words) -> list[float]:
    """How many words are equal to an earlier one: about Poisson with mean n^2/2^33."""
    equal = words.size - numpy.unique(words).size
    mean = words.size - 2.0**32 * -math.expm1(words.size * math.log1p(-(2.0**-32)))
    return [min(1.0, 2 * min(scipy.stats.poisson.cdf(equal, mean), _at_least(equal, mean)))]


TESTS: tuple[Callable[[Words], list[float]], ...] = (
    bits_are_fair, bits_are_uncorrelated, bits_within_a_word, bytes_and_halves, serial_pairs, runs,
    gaps, birthday_spacings, collisions,
)  # fmt: skip


def stream(program: Path, order: str, count: int) -> Iterator[Words]:
    """The words in parts."""
    command = [program, order, "20240229", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        while content := child.stdout.read(4 * PART):
            yield numpy.frombuffer(content, "<u4")


@pytest.mark.parametrize("order", ORDERS)
def test_words(program: Path, order: str) -> None:
    (words,) = stream(program, order, QUICK)
    for test in TESTS:
        for p_value in test(words):
            gof.require(p_value, f"{test.__name__} over {order}")


@pytest.mark.statistics
@pytest.mark.parametrize("order", ORDERS)
def test_many_words(program: Path, order: str) -> None:
    """The p-values of 64 parts must be uniform: Fisher's sum of their logarithms."""
    logarithms: dict[str, list[float]] = {}
    for words in stream(program, order, MANY):
        for test in TESTS:
            p_values = test(words)
            # A Poisson p-value is discrete and larger than uniform: only its smallness is tested.
            logarithms.setdefault(test.__name__, []).extend(
                -2 * math.log(max(p, 1e-300)) for p in p_values
            )
    for name, sums in logarithms.items():
        gof.require(gof.chi_square(sum(sums), 2 * len(sums)), f"{name} over {order}")


def test_a_bad_generator_is_found() -> None:
    """A linear congruential one, and Philox words with one bit stuck now and then."""
    state, poor = 1, numpy.empty(1 << 18, numpy.uint32)
    for i in range(poor.size):
        state = (1103515245 * state + 12345) % 2**32
        poor[i] = state
    assert min(p for test in TESTS for p in test(poor)) < gof.THRESHOLD
    good = numpy.random.Generator(numpy.random.Philox(1)).integers(0, 2**32, QUICK, numpy.uint32)
    assert min(p for test in TESTS for p in test(good)) >= gof.THRESHOLD
    stuck = good.copy()
    stuck[::100] |= 1
    assert min(bits_are_fair(stuck)) < gof.THRESHOLD
