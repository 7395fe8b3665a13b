# SPDX-License-Identifier: MIT
"""The sphere as a constraint, and the two ways to reach it."""

import math

import pytest
import torch
from torch.distributions import Independent, biject_to, constraints, transform_to

from svmf.constraints import StereographicTransform, UnitVectorTransform, unit_vector
from svmf.distributions import VonMisesFisher


def test_check(exact):
    value = exact.directions(3, 4)
    value[1] *= 1.01
    value[2, 0] = math.nan
    assert unit_vector.check(value).tolist() == [True, False, False]
    assert unit_vector.event_dim == 1
    assert not unit_vector.is_discrete
    assert repr(unit_vector) == "UnitVector()"
    assert constraints.independent(unit_vector, 1).check(exact.directions(2, 3, 4)).shape == (2,)


def test_transform_to_normalises():
    transform = transform_to(VonMisesFisher.arg_constraints["loc"])
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]], requires_grad=True)
    y = transform(x)
    assert unit_vector.check(y).all()
    assert y[1].tolist() == [1, 0]
    assert transform.inv(y) is y
    assert transform == UnitVectorTransform()
    y[0].sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_biject_to_is_stereographic(exact, dim):
    transform = biject_to(unit_vector)
    assert transform.bijective
    u = torch.randn(10, dim - 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    z = transform(u)
    assert z.shape == (10, dim)
    assert unit_vector.check(z).all()
    torch.testing.assert_close(transform.inv(z), u)
    assert transform.forward_shape((10, dim - 1)) == (10, dim)
    assert transform.inverse_shape((10, dim)) == (10, dim - 1)
    assert transform == StereographicTransform()
    # The Jacobian is sqrt(det J^T J) of the map into R^m.
    jacobian = torch.stack([torch.autograd.functional.jacobian(transform, row) for row in u])
    by_hand = torch.linalg.slogdet(jacobian.mT @ jacobian).logabsdet / 2
    torch.testing.assert_close(transform.log_abs_det_jacobian(u, z), by_hand)


@pytest.mark.parametrize(
    ("dtype", "length"),
    [(torch.float32, 1e19), (torch.float32, 1e37), (torch.float64, 1e160), (torch.float64, 1e300)],
)
def test_stereographic_inverse_where_squares_have_no_place(dtype, length):
    transform = StereographicTransform()
    u = (torch.tensor([[0.3, -0.9, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64) * length).to(dtype)
    y = transform(u)
    back = transform._inverse(y.requires_grad_())  # transform.inv(y) remembers u
    torch.testing.assert_close(back, u, rtol=1e-5, atol=0)
    pole = torch.eye(4, dtype=dtype)[:1].requires_grad_()
    (slope,) = torch.autograd.grad(transform._inverse(pole).sum(), pole)
    torch.testing.assert_close(slope, torch.tensor([[0, 0.5, 0.5, 0.5]], dtype=dtype))


def test_stereographic_inverse_near_the_missing_point():
    transform = StereographicTransform()
    u = torch.tensor([[1e6, 2e6]], dtype=torch.float64)
    torch.testing.assert_close(transform.inv(StereographicTransform()(u)), u, rtol=1e-9, atol=0)
    with pytest.raises(ValueError, match="one dimension"):
        transform.forward_shape(())
    with pytest.raises(ValueError, match="one dimension"):
        transform.inverse_shape(())


def test_density_integrates_to_one_in_the_plane(exact):
    """The vMF density on S^1 pulled back to the line by the bijection is a density."""
    q = VonMisesFisher(exact.directions(2), 3.0)
    transform = biject_to(q.support)
    angle = torch.linspace(-math.pi + 1e-6, math.pi - 1e-6, 400_001, dtype=torch.float64)
    u = (angle / 2).tan()[:, None]
    log_density = q.log_prob(transform(u)) + transform.log_abs_det_jacobian(u, transform(u))
    total = torch.trapezoid(log_density.exp(), u[:, 0])
    assert total.item() == pytest.approx(1, abs=1e-4)


def test_registries_reach_through_independent(exact):
    q = Independent(VonMisesFisher(exact.directions(5, 3), 1.0), 1)
    z = biject_to(q.support)(torch.randn(5, 2, dtype=torch.float64))
    assert q.log_prob(z).shape == ()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-10, 1.0, 1e10, 1e20, 1e38])
def test_normalising_neither_overflows_nor_vanishes(scale, dtype):
    """In float32 1e20 gave the zero vector and 1e-30 e1."""
    direction = torch.tensor([-0.6, 0.0, 0.8], dtype=torch.float64)
    x = (direction * scale).to(dtype).requires_grad_()
    y = UnitVectorTransform()(x)
    exact = torch.nn.functional.normalize(x.detach().double() / scale, dim=-1)
    torch.testing.assert_close(y.double(), exact, rtol=0, atol=4 * torch.finfo(dtype).eps)
    (slope,) = torch.autograd.grad(y[1], x)
    if scale >= 1e-30:  # below, the derivative 1/scale leaves float32
        assert slope[1].item() == pytest.approx(1 / scale, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e3, 1e10, 1e20, 1e38])
def test_stereographic_of_large_vectors(scale, dtype):
    """Squares overflow at 1e20 in float32: the result was nan."""
    u = torch.tensor([0.6, -0.8], dtype=dtype) * scale
    z = StereographicTransform()(u)
    assert unit_vector.check(z).all()
    exact = StereographicTransform()(u.double() / max(1.0, scale / 1e9))
    torch.testing.assert_close(z.double(), exact, rtol=0, atol=1e-6)
    log_jacobian = StereographicTransform().log_abs_det_jacobian(u, z)
    square = float(u.double().square().sum())
    expected = 2 * (math.log(2) - math.log1p(square))
    room = 8 * torch.finfo(dtype).eps
    assert log_jacobian.item() == pytest.approx(expected, rel=room, abs=room)
