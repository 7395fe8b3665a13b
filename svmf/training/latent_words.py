# SPDX-License-Identifier: MIT
"""Latent spaces in words: `s10x4+n5` is four spheres S^10 beside a Gaussian of five. No torch."""

import re

from svmf.errors import ConfigError, one_line

LETTERS = {
    "s": "spherical",
    "n": "gaussian",
    "p": "power-spherical",
    "c": "spherical-cauchy",
    "f": "flow",
}
LETTERS_IN_WORDS = ", ".join(f"{letter} {name}" for letter, name in LETTERS.items())
_FACTOR = re.compile(rf"([{''.join(LETTERS)}])([1-9]\d{{0,5}})(?:x([1-9]\d{{0,3}}))?")
_MOST_FACTORS = 1024


def parse_latent(words: str) -> list[tuple[str, int]]:
    """The factors, each a family of `LATENTS` and its d."""
    factors: list[tuple[str, int]] = []
    for word in words.split("+"):
        match = _FACTOR.fullmatch(word)
        if match is None:
            raise ConfigError(
                f"--latent: expected factors such as s10x4+n5 ({LETTERS_IN_WORDS}; d; x how many), "
                f"got {one_line(words)!r}"
            )
        factors += [(LETTERS[match[1]], int(match[2]))] * int(match[3] or 1)
    if len(factors) > _MOST_FACTORS or sum(d for _, d in factors) > 100_000:
        raise ConfigError(
            f"--latent: expected at most {_MOST_FACTORS} factors and d of 100000 in all, "
            f"got {one_line(words)!r}"
        )
    return factors
