# SPDX-License-Identifier: MIT
"""docs/rng.md as code: Philox, its counters and what each random word is used for, in plain Python
and NumPy, compared with the samples of the op in float64 and float32."""

import math
from collections.abc import Iterator

import numpy
import pytest
import torch
from numpy.typing import NDArray

PROPOSAL, DIRECTION = 0, 1
_MASK = 0xFFFFFFFF


def philox(counter: tuple[int, int, int, int], key: int) -> list[int]:
    """Philox4x32-10 (Salmon et al. 2011)."""
    c, k0, k1 = list(counter), key & _MASK, key >> 32 & _MASK
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ k0, second & _MASK, first >> 32 ^ c[3] ^ k1, first & _MASK]
        k0, k1 = (k0 + 0x9E3779B9) & _MASK, (k1 + 0xBB67AE85) & _MASK
    return c


class Words:
    """The uniform numbers of one row: float takes one word each, double takes two."""

    def __init__(self, seed: int, row: int, double: bool):
        self.seed, self.row, self.double = seed, row, double
        self.per_block = 2 if double else 4

    def integer(self, purpose: int, draw: int) -> int:
        """Number `draw` of the row for this purpose: 32 bits, or 64."""
        block, i = divmod(draw, self.per_block)
        words = philox((self.row & _MASK, self.row >> 32, block, purpose), self.seed)
        return words[2 * i] << 32 | words[2 * i + 1] if self.double else words[i]

    def uniform(self, purpose: int, draw: int) -> float:
        """In (0, 1)."""
        n = self.integer(purpose, draw)
        return (n >> 12) * 2.0**-52 + 2.0**-53 if self.double else (n >> 1) * 2.0**-31 + 2.0**-32

    def turns(self, purpose: int, draw: int) -> float:
        """In [-1/2, 1/2)."""
        n = self.integer(purpose, draw)
        if self.double:
            return (n >> 12) * 2.0**-52 - 0.5
        return (n - 2**32 if n >= 2**31 else n) * 2.0**-32


def specified_sample(loc: NDArray, kappa: float, words: Words, family: str = "vmf") -> NDArray:
    """One sample as docs/rng.md specifies it, in float64 arithmetic."""
    m = loc.size
    below, attempt = COSINES[family](m, kappa, words)
    if m == 2:
        side = words.turns(PROPOSAL, 4 * attempt + 3)
        direction = numpy.array([-1.0 if side < 0 else 1.0])
    elif m == 3:
        angle = 2 * math.pi * words.turns(PROPOSAL, 1)
        direction = numpy.array([math.cos(angle), math.sin(angle)])
    else:
        direction = numpy.array([normal(words, j) for j in range(m - 1)])
        direction /= numpy.linalg.norm(direction)
    around_e1 = numpy.concatenate([[1 - below], math.sqrt(below * (2 - below)) * direction])
    # mu_0 < 0: the Householder reflection of e1 to mu. Else the tangent is reflected from -e1 to
    # mu, and w stays.
    sign = -1.0 if loc[0] < 0 else 1.0
    u = loc.copy()
    u[0] += sign
    tangent = numpy.concatenate([[0.0], around_e1[1:]])
    return around_e1[0] * loc + tangent - u * (u @ tangent) / (1 + abs(loc[0]))


def normal(words: Words, column: int) -> float:
    """Box and Muller: draws 2i and 2i + 1 make the normals of columns 2i and 2i + 1."""
    pair = column // 2 * 2
    radius = math.sqrt(-2 * math.log(words.uniform(DIRECTION, pair)))
    angle = 2 * math.pi * words.turns(DIRECTION, pair + 1)
    return radius * (math.sin(angle) if column % 2 else math.cos(angle))


def cosine(m: int, kappa: float, words: Words) -> tuple[float, int]:
    """1-w, and the number of the accepted attempt. An attempt has four draws."""
    if m == 3:
        u = words.uniform(PROPOSAL, 0)
        if kappa == 0:
            return 2 * (1 - u), 0
        return -math.log1p((1 - u) * math.expm1(-2 * kappa)) / kappa, 0
    nu = (m - 1) / 2
    s = math.hypot(nu, kappa)
    b = nu / (s + kappa)
    for attempt in range(256):
        u = [words.uniform(PROPOSAL, 4 * attempt + i) for i in range(4)]
        low, high = symmetric_beta(m, u, words.turns(PROPOSAL, 4 * attempt + 1))
        d = high + b * low
        x = kappa * (high - low) / ((s + kappa + nu) * d)
        if u[3 if m == 5 else 2] <= math.exp(2 * nu * (x + math.log1p(-x))):
            return 2 * b * low / d, attempt
    raise AssertionError("no proposal accepted")


def attempts(m: int, words: Words) -> Iterator[tuple[float, float, float]]:
    """eps, 1 - eps and the uniform number of the acceptance, for one attempt after the other."""
    for attempt in range(256):
        u = [words.uniform(PROPOSAL, 4 * attempt + i) for i in range(4)]
        yield *symmetric_beta(m, u, words.turns(PROPOSAL, 4 * attempt + 1)), u[3 if m == 5 else 2]


def cauchy_cosine(m: int, rho: float, words: Words) -> tuple[float, int]:
    """1-w of the Moebius map; attempt 0 as it is."""
    if m == 3:
        low = words.uniform(PROPOSAL, 0)
        high = 1 - low
    else:
        low, high, _ = next(attempts(m, words))
    b = ((1 - rho) / (1 + rho)) ** 2
    return 2 * b * low / (high + b * low), 0


def power_cosine(m: int, kappa: float, words: Words) -> tuple[float, int]:
    """1-w of a Beta variable; docs/math.md."""
    if m == 3:
        return -2 * math.expm1(math.log(words.uniform(PROPOSAL, 0)) / (1 + kappa)), 0
    nu = (m - 1) / 2
    b = nu / (nu + kappa)
    for attempt, (low, high, u) in enumerate(attempts(m, words)):
        d, r = high + b * low, high - low
        y, q = (1 - b) * r / (2 * d), b * r / d
        log_acceptance = 2 * nu * (y + math.log1p(-y)) + kappa * (math.log1p(q) - q)
        if u <= math.exp(log_acceptance):
            return 2 * b * low / d, attempt
    raise AssertionError("no proposal accepted")


def symmetric_beta(m: int, u: list[float], turns: float) -> tuple[float, float]:
    """eps and 1 - eps, eps ~ Beta((m-1)/2, (m-1)/2)."""
    if m == 5:
        median = sorted(u[:3])[1]
        return median, 1 - median
    rho = 1.0 if m == 2 else math.sqrt(-math.expm1(math.log(u[0]) / (m / 2 - 1)))
    half_turn = math.pi * turns
    return (1 - rho) / 2 + rho * math.cos(half_turn) ** 2, (1 - rho) / 2 + rho * math.sin(
        half_turn
    ) ** 2


COSINES = {"vmf": cosine, "spherical_cauchy": cauchy_cosine, "power_spherical": power_cosine}


def test_philox_known_answer(svmf_math):
    """Salmon et al.'s first test vector, and the op's lanes against the words computed here."""
    assert philox((0, 0, 0, 0), 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    counter, key = (7, 1, 2**31, 1), 0xFEDCBA9876543210
    for lanes in ("scalar32", "scalar64", "vector32", "vector64"):
        assert svmf_math.philox(counter, key, lanes) == philox(counter, key)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 9, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_samples_are_what_the_specification_says(directions, m, dtype):
    rows, seed = 30, 2**61 + 3**20
    loc = directions(rows, m, seed=m, dtype=dtype)
    kappa = torch.tensor([0.0, 0.1, 1.0, 8.0, 50.0, 1000.0] * 5).to(dtype)
    z, _ = torch.ops.svmf.vmf_rsample.default(loc, kappa, torch.tensor([seed]), [2], 0, False)
    z = z.view(-1, m)
    double = dtype == torch.float64
    tolerance = (
        1e-11 if double else 5e-5
    )  # float32: the sample's own rounding, enlarged near w = +-1
    for row in range(2 * rows):
        mu = loc[row % rows].double().numpy()
        expected = specified_sample(mu, kappa[row % rows].item(), Words(seed, row, double))
        numpy.testing.assert_allclose(z[row].double().numpy(), expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 9, 40])
@pytest.mark.parametrize("family", ["spherical_cauchy", "power_spherical"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_samples_of_the_other_families(directions, m, family, dtype):
    rows, seed = 30, 2**60 + 3**21
    loc = directions(rows, m, seed=m, dtype=dtype)
    values = [0.0, 0.1, 0.5, 0.9, 0.99, 0.3] if "cauchy" in family else [0, 0.1, 1, 8, 50, 1000]
    parameter = torch.tensor(values * 5, dtype=dtype)
    draw = getattr(torch.ops.svmf, f"{family}_rsample").default
    z = draw(loc, parameter, torch.tensor([seed]), [2], False)[0].view(-1, m)
    double = dtype == torch.float64
    for row in range(2 * rows):
        mu, value = loc[row % rows].double().numpy(), parameter[row % rows].item()
        expected = specified_sample(mu, value, Words(seed, row, double), family)
        tolerance = 1e-11 if double else 5e-5
        numpy.testing.assert_allclose(z[row].double().numpy(), expected, atol=tolerance, rtol=0)
