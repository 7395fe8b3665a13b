# SPDX-License-Identifier: MIT
"""The gradient estimators of a vMF sample in kappa: their names, and nothing that needs torch.

Losses written with "corrected" also take the term of `functional.vmf_rsample_with_correction`.
"""

PATHWISE = "pathwise"
CORRECTED = "corrected"
REJECTION = "rejection"

MEANINGS = {
    PATHWISE: "implicit reparameterisation, unbiased",
    CORRECTED: "the paper's g_rep + g_cor, unbiased, with more variance",
    REJECTION: "the paper's g_rep alone, biased",
}
GRADIENTS = tuple(MEANINGS)

# What one sample can carry by itself, with its number in csrc/common/functions.h (SampleGradient).
OF_ONE_SAMPLE = {PATHWISE: 0, REJECTION: 1}


def check_gradient_of_sample(op: str, gradient: str) -> int:
    """The number of the estimator, or an error in the name of the caller."""
    if isinstance(gradient, str) and gradient in OF_ONE_SAMPLE:
        return OF_ONE_SAMPLE[gradient]
    names = " or ".join(f'"{name}"' for name in OF_ONE_SAMPLE)
    raise ValueError(f"{op}: expected `gradient` to be {names}, got {gradient!r}")
