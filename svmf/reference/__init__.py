# SPDX-License-Identifier: MIT
"""The calls of :mod:`svmf.functional`, written as the paper has them.

Davidson, Falorsi, De Cao, Kipf, Tomczak, "Hyperspherical Variational Auto-Encoders" (UAI 2018), in
plain torch, NumPy and SciPy, for reading and for comparison: no compiled code and no speed tricks.
Scalars per row (Bessel functions, KL, omega) are computed in float64 and rounded once to the type
of the argument; vectors keep the type they came in.

Where the published formulas break, this package breaks with them:

- `scipy.special.ive` underflows to 0 for an order far above the argument (order 500 at x = 1): log
  I is then -inf, the ratio nan, and so are log C, KL and entropy.
- log C and the KL add terms that cancel: their relative error grows like kappa / log kappa for
  large kappa, and like (m log m) / kappa^2 for small kappa. kappa = 0 itself is answered by the
  limit (the uniform distribution).
- dKL/dkappa is a difference of ratios: it loses about kappa^2 / m for large kappa and (m / kappa)^2
  for small kappa.
- b = (-2 kappa + sqrt(4 kappa^2 + (m-1)^2)) / (m-1) loses all digits for kappa >> m, from about
  kappa = 1e7 on in float64; the sampler then raises an error, since no proposal is ever accepted.
- The Householder vector e1 - mu loses digits when mu is close to e1. At mu = e1 exactly the
  reflection is taken as the identity and no gradient reaches mu.
"""

from svmf.reference import bessel, density, pathwise, power_spherical, sampling, spherical_cauchy
from svmf.reference.bessel import *  # noqa: F403
from svmf.reference.density import *  # noqa: F403
from svmf.reference.pathwise import *  # noqa: F403
from svmf.reference.power_spherical import *  # noqa: F403
from svmf.reference.sampling import *  # noqa: F403
from svmf.reference.spherical_cauchy import *  # noqa: F403

__all__ = [
    *bessel.__all__,
    *density.__all__,
    *pathwise.__all__,
    *power_spherical.__all__,
    *sampling.__all__,
    *spherical_cauchy.__all__,
]
