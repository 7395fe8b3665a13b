# SPDX-License-Identifier: MIT
"""Random directions, and the normalisation of the vMF density by mpmath. Nothing of svmf is
used."""

import mpmath
import torch


def directions(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Random unit vectors [*shape], drawn in float64."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(normal, dim=-1).to(dtype)


def vmf_log_norm(kappa: float, dim: int) -> float:
    """log C_m(kappa)."""
    with mpmath.workdps(40):
        v = mpmath.mpf(dim) / 2 - 1
        bessel = mpmath.log(mpmath.besseli(v, kappa))
        return float(v * mpmath.log(kappa) - (v + 1) * mpmath.log(2 * mpmath.pi) - bessel)
