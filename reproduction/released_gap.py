# SPDX-License-Identifier: MIT
"""How far the released example's log-likelihood lies above the ELBO, for a vMF posterior.

The example reports log p(x|z_0) + log mean_i p(z_i)/q(z_i|x) over n draws
(`svmf.models.released_log_likelihood`). Its mean less the ELBO is

    E[log mean_i exp(t_i)] - E[t],    t = kappa (1 - w),

because log p(z)/q(z|x) = t + const for the uniform prior. The density of t is proportional to

    t^(d/2 - 1) e^-t (1 - t/(2 kappa))^(d/2 - 1),    0 < t < 2 kappa,

for large kappa that of Gamma(d/2, 1): then the gap depends on d and n alone.
"""

import math

import numpy as np

SAMPLES = 500  # of the paper's table


def released_gap(dim: int, kappa: float = math.inf, samples: int = SAMPLES) -> float:
    """E[log mean_i exp(t_i)] - E[t] in nats, by quadrature.

    With S = sum_i exp(t_i) and phi(s) = E[exp(-s exp(t))], Frullani's integral gives

        E[log S] = int (exp(-e^u) - phi(e^u)^n) du,

    over all real u. (A Monte Carlo mean would do too, but slowly: exp(t) has no mean for Gamma.)
    """
    shape = dim / 2
    # x = log t: the density is smooth and falls off on both sides
    x = np.linspace(-60 / max(shape, 1.0), math.log(shape + 120), 1001)
    t = np.exp(x)
    inside = t < 2 * kappa
    x, t = x[inside], t[inside]
    log_weight = shape * x - t + (shape - 1) * np.log1p(-t / (2 * kappa))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    u = np.linspace(-math.log(samples) - shape - 120, 12, 1501)
    # 1 - phi, which is small where n of it matter
    rest = -np.expm1(-np.exp(np.minimum(u[:, None] + t, 700.0))) @ weight
    powers = np.exp(samples * np.log1p(-np.minimum(rest, 1 - 1e-16)))
    mean_log_sum = float(np.sum(np.exp(-np.exp(u)) - powers) * (u[1] - u[0]))
    return mean_log_sum - math.log(samples) - float(weight @ t)
