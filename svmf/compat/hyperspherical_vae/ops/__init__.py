# SPDX-License-Identifier: MIT
"""`ive` and `Ive`, the scaled Bessel function."""

from svmf.compat.hyperspherical_vae.ops.ive import Ive, ive

__all__ = ["Ive", "ive"]
