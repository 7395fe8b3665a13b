# SPDX-License-Identifier: MIT
"""Every op of svmf, by kind: what fake kernels, derivatives, batching rules, test cases, the fuzzer
and benchmarks are made from. The twin of the list in csrc; tests/ops/test_inventory.py compares
them. Plain data, without torch.

A new function of kappa is one line of OF_KAPPA (docs/adding_an_op.md).
"""

import math
from typing import NamedTuple


class OfKappa(NamedTuple):
    """An op (Tensor kappa, int dim) that maps elements. `argument` is what it calls its tensor."""

    name: str
    slope: str  # the op that is its derivative, with a minus in front where the sign changes
    low: float = -math.inf  # the range of its values
    high: float = math.inf
    argument: str = "kappa"

    @property
    def is_differentiable(self) -> bool:
        return self.slope != THIRD


class OfRows(NamedTuple):
    """An op of tensors with one row, or one value per row, each."""

    name: str
    arguments: tuple[str, ...]  # "vector", "kappa" or "rho"
    results: tuple[str, ...] = ("kappa",)
    first: int = 0  # the argument that the others must fit


class OfFamily(NamedTuple):
    """The samplers of a family beside the vMF: (loc, parameter, seed, sample_shape, keep_state)."""

    name: str
    parameter: str

    @property
    def samplers(self) -> tuple[str, str]:
        return f"{self.name}_rsample", f"{self.name}_rsample_kl"

    @property
    def backward(self) -> str:
        return f"_{self.name}_rsample_backward"


# What stands in the place of a slope where an op has no derivative, and is raised.
THIRD = (
    "svmf: third derivatives in kappa are not offered. Differentiate twice, or use svmf.reference, "
    "whose formulas torch differentiates as often as wanted."
)
INVERSE = "1 / _vmf_mean_length_grad at the result"

OF_KAPPA = (
    OfKappa("vmf_log_norm", "-vmf_mean_length"),
    OfKappa("vmf_log_partition", "vmf_mean_length", 0.0),
    OfKappa("vmf_mean_length", "_vmf_mean_length_grad", 0.0, 1.0),
    OfKappa("vmf_mean_length_complement", "-_vmf_mean_length_grad", 0.0, 1.0),
    OfKappa("_vmf_mean_length_grad", "_vmf_mean_length_grad2", 0.0, 1.0),
    OfKappa("_vmf_mean_length_grad2", THIRD),
    OfKappa("vmf_kl_uniform", "_vmf_kl_uniform_grad", 0.0),
    OfKappa("_vmf_kl_uniform_grad", "_vmf_kl_uniform_grad2", 0.0),
    OfKappa("_vmf_kl_uniform_grad2", THIRD),
    OfKappa("vmf_entropy", "-_vmf_kl_uniform_grad"),
    OfKappa("vmf_concentration", INVERSE, 0.0, argument="mean_length"),
    *(
        OfKappa(name, slope, low, high, argument="rho")
        for name, slope, low, high in (
            ("spherical_cauchy_kl_uniform", "_spherical_cauchy_kl_uniform_grad", 0.0, math.inf),
            (
                "_spherical_cauchy_kl_uniform_grad",
                "_spherical_cauchy_kl_uniform_grad2",
                0.0,
                math.inf,
            ),
            ("_spherical_cauchy_kl_uniform_grad2", THIRD, 0.0, math.inf),
            ("spherical_cauchy_mean_length", "_spherical_cauchy_mean_length_grad", 0.0, 1.0),
            (
                "_spherical_cauchy_mean_length_grad",
                "_spherical_cauchy_mean_length_grad2",
                0.0,
                math.inf,
            ),
            ("_spherical_cauchy_mean_length_grad2", THIRD, -math.inf, math.inf),
        )
    ),
    OfKappa("power_spherical_kl_uniform", "_power_spherical_kl_uniform_grad", 0.0),
    OfKappa("_power_spherical_kl_uniform_grad", "_power_spherical_kl_uniform_grad2", 0.0),
    OfKappa("_power_spherical_kl_uniform_grad2", THIRD),
    OfKappa("power_spherical_log_partition", "_power_spherical_log_partition_grad", high=0.0),
    OfKappa(
        "_power_spherical_log_partition_grad", "_power_spherical_log_partition_grad2", high=0.0
    ),
    OfKappa("_power_spherical_log_partition_grad2", "_power_spherical_log_partition_grad3", 0.0),
    OfKappa("_power_spherical_log_partition_grad3", THIRD, high=0.0),
)

# (order, x): `order` is a number, or a tensor in the overload `tensor`.
BESSEL = (
    "log_iv",
    "log_ive",
    "iv_ratio",
    "_iv_ratio_grad",
    "log_kv",
    "log_kve",
    "_log_kve_grad",
    "_log_kve_grad2",
    "log_iv_order_derivative",
    "log_kv_order_derivative",
)
# The logarithms have a derivative in `order`; e^x and e^-x do not matter for it.
BESSEL_IN_ORDER = {
    "log_iv": "log_iv_order_derivative",
    "log_ive": "log_iv_order_derivative",
    "log_kv": "log_kv_order_derivative",
    "log_kve": "log_kv_order_derivative",
}
# Without a derivative in x, and why.
_ORDER_ONCE = (
    "svmf: a derivative in `order` is not differentiated again. Call the function under "
    "torch.no_grad() if it is meant as a constant."
)
BESSEL_WITHOUT_SLOPE = {
    "_log_kve_grad2": "svmf: third derivatives of log_kv and log_kve are not offered.",
    "log_iv_order_derivative": _ORDER_ONCE,
    "log_kv_order_derivative": _ORDER_ONCE,
}

# (w, kappa, dim), elementwise.
PATHWISE = "vmf_pathwise_derivative"

OF_ROWS = (
    OfRows("vmf_kl", ("vector", "kappa", "vector", "kappa")),
    OfRows("householder", ("vector", "vector"), ("vector",)),
    OfRows("_householder_backward", ("vector",) * 3, ("vector",) * 2, first=1),
    OfRows("vmf_log_prob", ("vector", "vector", "kappa")),
    OfRows("spherical_cauchy_log_prob", ("vector", "vector", "rho"), ("rho",)),
    OfRows("power_spherical_log_prob", ("vector", "vector", "kappa")),
)

# (loc, kappa, seed, sample_shape, ..., keep_state), and their common backward pass.
SAMPLERS = ("vmf_rsample", "vmf_rsample_kl", "vmf_rsample_with_correction")
SAMPLER_BACKWARD = "_vmf_rsample_backward"

# (features, raw_concentration, seed, sample_shape, gradient, offset, keep_state), and its backward.
FEATURE_SAMPLER = "vmf_rsample_kl_from_features"
FEATURE_SAMPLER_BACKWARD = "_vmf_rsample_kl_from_features_backward"

FAMILIES = (OfFamily("spherical_cauchy", "rho"), OfFamily("power_spherical", "kappa"))

# No functions of tensors to tensors: nothing to differentiate or to batch, nothing for a device.
HOST_ONLY = {
    "_parameter_range": "returns Python numbers, for checks of parameters on the CPU",
    "_build_info": "returns text",
    "_draw_seed": "draws from a generator, on any device, by torch's own random numbers",
}

NAMES = (
    *BESSEL,
    *(op.name for op in OF_KAPPA),
    PATHWISE,
    *(op.name for op in OF_ROWS),
    *SAMPLERS,
    SAMPLER_BACKWARD,
    FEATURE_SAMPLER,
    FEATURE_SAMPLER_BACKWARD,
    *(name for family in FAMILIES for name in (*family.samplers, family.backward)),
    *HOST_ONLY,
)


def is_public(name: str) -> bool:
    """Whether users call the op, through the function of that name in svmf.functional."""
    return not name.startswith("_")


def public_of_kappa() -> tuple[OfKappa, ...]:
    """The functions of kappa that users call, without those of another argument."""
    return tuple(op for op in OF_KAPPA if is_public(op.name) and op.argument == "kappa")
