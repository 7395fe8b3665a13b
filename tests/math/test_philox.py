# SPDX-License-Identifier: MIT
"""Philox4x32-10 against the known answers that its authors publish (Random123), in every lane."""

import pytest

KNOWN_ANSWERS = {
    "zeros": ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    "ones": (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    "pi": (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
}


@pytest.mark.parametrize("lanes", ["scalar32", "scalar64", "vector32", "vector64"])
@pytest.mark.parametrize("name", KNOWN_ANSWERS)
def test_known_answer(svmf_math, name: str, lanes: str) -> None:
    counter, (key0, key1), words = KNOWN_ANSWERS[name]
    assert tuple(svmf_math.philox(counter, key0 | key1 << 32, lanes)) == words


def test_lanes_agree_on_random_counters(svmf_math) -> None:
    for i in range(200):
        counter = tuple((0x9E3779B9 * (4 * i + j + 1)) & 0xFFFFFFFF for j in range(4))
        key = (0xD1342543DE82EF95 * (i + 1)) & 0xFFFFFFFFFFFFFFFF
        answers = {
            tuple(svmf_math.philox(counter, key, lanes))
            for lanes in ("scalar32", "scalar64", "vector32", "vector64")
        }
        assert len(answers) == 1
