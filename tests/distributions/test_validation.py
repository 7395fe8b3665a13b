# SPDX-License-Identifier: MIT
"""What a user sees after a mistake: the class, the argument, what was expected, what came."""

import math

import pytest
import torch
from torch.distributions import Distribution

from svmf import functional
from svmf.distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher

UNIT = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
ONES = torch.ones(2)
NAN, INF = float("nan"), float("inf")

MISTAKES = [
    (ValueError, UNIT * 2, ONES, r"`loc` to hold unit vectors.*got norm 2 at \[0\] \(2 of 2 wrong"),
    (ValueError, UNIT * torch.tensor([[1.0], [0.0]]), ONES, r"`loc`.*norm 0 at \[1\] \(1 of 2"),
    (ValueError, UNIT * torch.tensor([[1.0], [NAN]]), ONES, r"`loc`.*norm nan at \[1\]"),
    (ValueError, UNIT[0] * 3, 1.0, r"`loc`.*got norm 3 \("),
    (ValueError, UNIT, torch.tensor([1.0, -0.5]), r"`concentration`.*value -0.5 at \[1\] \(1 of 2"),
    (ValueError, UNIT, torch.tensor([NAN, 1.0]), r"`concentration`.*finite.*value nan at \[0\]"),
    (ValueError, UNIT, INF, r"`concentration`.*value inf at \[0\] \(2 of 2"),
    (ValueError, UNIT[:, :1], ONES, r"`loc` of shape \[..., m\] with m >= 2.*got shape \[2, 1\]"),
    (ValueError, torch.tensor(1.0), 1.0, r"`loc` of shape.*got shape \[\]"),
    (ValueError, UNIT, torch.ones(3), r"`concentration` to broadcast.*\[2\].*got shape \[3\]"),
    (ValueError, UNIT, torch.ones(2, device="meta"), r"`concentration` on the device.*cpu.*meta"),
    (TypeError, UNIT, ONES.double(), r"`concentration` of the type.*float32.*float64"),
    (TypeError, UNIT, ONES.int(), r"`concentration` of the type.*float32.*int32"),
    (TypeError, UNIT.int(), ONES, r"`loc` of a floating type.*int32"),
    (TypeError, [1.0, 0.0], 1.0, r"`loc` to be a tensor, got list"),
]


@pytest.mark.parametrize("cls", [VonMisesFisher, PowerSpherical])
@pytest.mark.parametrize(("error", "loc", "concentration", "message"), MISTAKES)
def test_parameters(cls, error, loc, concentration, message):
    with pytest.raises(error, match=f"{cls.__name__}: expected {message}"):
        cls(loc, concentration)


def test_value_checks_can_be_turned_off():
    q = VonMisesFisher(UNIT * 2, -ONES, validate_args=False)
    assert q.log_prob(UNIT).shape == (2,)
    Distribution.set_default_validate_args(False)
    try:
        VonMisesFisher(UNIT * 2, ONES)
        with pytest.raises(ValueError, match="`loc`"):
            VonMisesFisher(UNIT * 2, ONES, validate_args=True)
    finally:
        Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="`loc`"):
        VonMisesFisher(UNIT * 2, ONES)


@pytest.mark.parametrize(
    "distribution",
    [VonMisesFisher(UNIT, ONES), PowerSpherical(UNIT, ONES), HypersphericalUniform(3, (2,))],
)
def test_log_prob_checks_its_argument(distribution):
    name = type(distribution).__name__
    for error, bad, message in [
        (ValueError, UNIT * 1.5, r"`value` to hold unit vectors.*norm 1.5 at \[0\] \(2 of 2"),
        (ValueError, torch.ones(2, 4) / 2, r"`value` to broadcast.*\[2, 3\], got \[2, 4\]"),
        (ValueError, torch.ones(3, 3) / 3**0.5, r"`value` to broadcast.*\[2, 3\], got \[3, 3\]"),
        (ValueError, torch.tensor(1.0), r"`value` to broadcast.*\[2, 3\], got \[\]"),
        (TypeError, UNIT.int(), "`value`.*floating type, got torch.int32"),
        (TypeError, [1.0, 0.0, 0.0], "`value`.*tensor.*got list"),
    ]:
        with pytest.raises(error, match=rf"{name}\.log_prob: expected {message}"):
            distribution.log_prob(bad)
    assert distribution.log_prob(torch.empty(0, 2, 3)).shape == (0, 2)


@pytest.mark.parametrize(
    ("error", "dim", "message"),
    [
        (ValueError, 1, "`dim` >= 2.*got 1"),
        (ValueError, -3, "`dim` >= 2.*got -3"),
        (TypeError, 3.0, "`dim` to be an int, got float"),
        (TypeError, True, "`dim` to be an int, got bool"),
    ],
)
def test_dimension_of_the_uniform_distribution(error, dim, message):
    with pytest.raises(error, match=message):
        HypersphericalUniform(dim)


def test_a_norm_within_rounding_is_accepted():
    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        for dim in (2, 3, 100, 10_000):
            loc = torch.randn(20, dim, generator=generator).to(dtype)
            VonMisesFisher(loc / loc.norm(dim=-1, keepdim=True), 1.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 2), (64, 10), (3, 5, 17), (9000, 33)])
def test_parameter_range_equals_torch(dtype, shape):
    generator = torch.Generator().manual_seed(0)
    loc = torch.randn(*shape, generator=generator).to(dtype)
    kappa = torch.randn(*shape[:-1], generator=generator).to(dtype)
    wide = loc.double() if dtype == torch.float64 else loc.float()
    expected = [*wide.norm(dim=-1).aminmax(), *kappa.aminmax()]
    for rows in (loc, loc.mT.contiguous().mT):
        actual = functional.parameter_range(rows, kappa)
        assert actual == pytest.approx([bound.item() for bound in expected], rel=1e-6)
    loc[0, 0] = kappa[-1] = NAN
    assert all(math.isnan(bound) for bound in functional.parameter_range(loc, kappa))
