# SPDX-License-Identifier: MIT
"""The bound of the rejection loop is never reached: csrc/math/wood.h proves that a proposal is
accepted with probability sqrt(e/(2 pi)) = 0.6577 or more, whatever m and kappa, so 256 rejections
in a row have probability 1e-119. Here attempts are counted, over 1e9 proposals in
`make test-statistics`.

False-alarm rate of each check: 1e-9 (a union bound over the rows, and the tail of a chi-square).
"""

import math
import platform
import subprocess
from pathlib import Path

import pytest
import scipy.stats
from helpers.building import compiled
from helpers.vmf_exact import acceptance_probability

FALSE_ALARM = 1e-9
LEAST_ACCEPTANCE = math.sqrt(math.e / (2 * math.pi))
AVX2 = "avx2" in Path("/proc/cpuinfo").read_text() if platform.machine() == "x86_64" else False
# m = 3 has a closed form and proposes nothing.
PAIRS = [
    (2, 0.0), (2, 1.0), (2, 1e3), (2, 1e6), (2, 1e10), (2, 1e30), (4, 5.0), (4, 1e10), (5, 1e-30),
    (5, 12.0), (5, 1e10), (10, 50.0), (10, 1e38), (65, 1e4), (1000, 700.0), (1_000_000, 1e6),
    (1_000_000, 1e10),
]  # fmt: skip


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi"]
    flags += ["-mavx2", "-mfma", "-DSVMF_ISA=isa_avx2"] if AVX2 else []
    program = tmp_path_factory.mktemp("attempts") / "attempts"
    return compiled(Path(__file__).with_name("attempts.cpp"), program, *flags)


def count(driver: Path, scalar: str, m: int, kappa: float, rows: int) -> tuple[list[int], int]:
    """Rows by the attempt that was accepted, and those that reached the bound."""
    words = [driver, scalar, str(m), repr(kappa), str(rows), "20240101"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    *attempts, never = map(int, done.stdout.split())
    return attempts, never


def check(driver: Path, scalar: str, m: int, kappa: float, rows: int) -> int:
    """Returns the number of proposals."""
    attempts, never = count(driver, scalar, m, kappa, rows)
    assert never == 0
    largest = max(i for i, n in enumerate(attempts, 1) if n)
    # P(some row of `rows` needs more than a attempts) <= rows (1 - p)^a.
    bound = math.log(FALSE_ALARM / rows) / math.log(1 - LEAST_ACCEPTANCE)
    assert largest <= math.ceil(bound), (m, kappa, scalar)
    assert bound < len(attempts) / 4, "far below the bound of the code"
    proposals = sum(i * n for i, n in enumerate(attempts, 1))
    if kappa <= 1e10:
        # Accepted proposals are binomial: attempts are independent of each other.
        rate = acceptance_probability(m, kappa)
        if rate < 1:
            z = (rows - proposals * rate) / math.sqrt(proposals * rate * (1 - rate))
            assert 2 * scipy.stats.norm.sf(abs(z)) > FALSE_ALARM, (m, kappa, scalar, z)
            geometric(attempts, rate, rows)
    return proposals


def geometric(attempts: list[int], rate: float, rows: int) -> None:
    """The number of the accepted attempt has the geometric distribution, by chi-square."""
    expected = [rows * rate * (1 - rate) ** i for i in range(len(attempts))]
    cells = max(1, sum(1 for e in expected if e >= 20) - 1)
    seen = [*attempts[:cells], sum(attempts[cells:])]
    wanted = [*expected[:cells], rows * (1 - rate) ** cells]
    if wanted[-1] < 20 or cells < 2:
        return
    statistic = sum((s - w) ** 2 / w for s, w in zip(seen, wanted, strict=True))
    assert scipy.stats.chi2.sf(statistic, cells) > FALSE_ALARM


@pytest.mark.parametrize("scalar", ["f32", "f64"])
def test_attempts_of_a_few_million_proposals(driver: Path, scalar: str) -> None:
    for m, kappa in PAIRS:
        check(driver, scalar, m, kappa, 100_000)


@pytest.mark.statistics
def test_attempts_of_a_billion_proposals(driver: Path) -> None:
    total, rows = 0, 23_000_000
    for scalar in ("f32", "f64"):
        for m, kappa in PAIRS:
            total += check(driver, scalar, m, kappa, rows)
    assert total >= 1_000_000_000
