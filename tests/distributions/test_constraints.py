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
