# SPDX-License-Identifier: MIT
"""How far the released example's log-likelihood lies above the ELBO, for a vMF posterior.

The example reports log p(x|z_0) + log mean_i p(z_i)/q(z_i|x) over n draws
(`svmf.models.released_log_likelihood`). Its mean less the ELBO is

    E[log mean_i exp(t_i)] - E[t],    t = kappa (1 - w),

because log p(z)/q(z|x) = t + const for the uniform prior. For large kappa t is Gamma(d/2, 1), and
the gap depends on d and n alone.
"""

import numpy as np

SAMPLES = 500  # of the paper's table


def gamma_gap(dim: int, samples: int = SAMPLES) -> float:
    """E[log mean_i exp(t_i)] - d/2 for t_i ~ Gamma(d/2, 1) in nats, by quadrature.

    With S = sum_i exp(t_i) and phi(s) = E[exp(-s exp(t))], Frullani's integral gives

        E[log S] = int (exp(-e^u) - phi(e^u)^n) du,

    over all real u. (A Monte Carlo mean would do too, but slowly: exp(t) has no mean.)
    """
    from scipy.special import gammaln

    shape = dim / 2
    # x = log t: the density of t is smooth and falls off on both sides
    x = np.linspace(-60 / max(shape, 1.0), np.log(shape + 120), 1001)
    t = np.exp(x)
    weight = np.exp(shape * x - t - gammaln(shape)) * (x[1] - x[0])
    u = np.linspace(-np.log(samples) - shape - 120, 12, 1501)
    # 1 - phi, which is small where n of it matter
    rest = -np.expm1(-np.exp(np.minimum(u[:, None] + t, 700.0))) @ weight
    powers = np.exp(samples * np.log1p(-np.minimum(rest, 1 - 1e-16)))
    step = u[1] - u[0]
    mean_log_sum = float(np.sum(np.exp(-np.exp(u)) - powers) * step)
    return mean_log_sum - float(np.log(samples)) - shape
