# SPDX-License-Identifier: MIT
"""The sphere itself."""

import math


def log_sphere_area(dim: int) -> float:
    """log of the surface area 2 pi^(m/2) / Gamma(m/2) of S^(m-1), m = `dim`."""
    return math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
