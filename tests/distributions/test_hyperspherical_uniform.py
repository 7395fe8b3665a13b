# SPDX-License-Identifier: MIT
"""HypersphericalUniform: constants, samples and the protocol."""

import copy
import io
import pickle

import pytest
import scipy.stats
import torch

from svmf.distributions import HypersphericalUniform


@pytest.mark.parametrize("dim", [2, 3, 17, 500])
def test_constants(exact, dim):
    p = HypersphericalUniform(dim, dtype=torch.float64)
    assert p.entropy().item() == pytest.approx(exact.log_area(dim), rel=1e-13)
    value = exact.directions(5, dim)
    expected = torch.full((5,), -exact.log_area(dim), dtype=torch.float64)
    torch.testing.assert_close(p.log_prob(value), expected)
    assert not p.mean.any()
    torch.testing.assert_close(p.covariance_matrix.trace(), torch.tensor(1.0).double())
    torch.testing.assert_close(p.variance.sum(), torch.tensor(1.0).double())


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_samples_are_uniform(dim):
    """(1 + x)/2 of each coordinate is Beta((m-1)/2, (m-1)/2); false alarm 1e-6."""
    p = HypersphericalUniform(dim, dtype=torch.float64)
    z = p.sample((20_000,), generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(z.norm(dim=-1), torch.ones(20_000, dtype=torch.float64))
    beta = scipy.stats.beta((dim - 1) / 2, (dim - 1) / 2)
    for coordinate in z.T:
        test = scipy.stats.kstest((1 + coordinate.numpy()) / 2, beta.cdf)
        assert test.pvalue > 1e-6 / dim


def test_shapes_and_types():
    p = HypersphericalUniform(4, (2, 3))
    assert p.batch_shape == (2, 3)
    assert p.event_shape == (4,)
    assert p.dim == 4
    assert p.sample((5,)).shape == (5, 2, 3, 4)
    assert p.rsample().dtype == torch.get_default_dtype()
    assert p.entropy().shape == (2, 3)
    assert p.log_prob(p.sample((5,))).shape == (5, 2, 3)
    assert p.expand((7, 2, 3)).sample().shape == (7, 2, 3, 4)
    assert HypersphericalUniform(4, dtype=torch.float64).sample().dtype == torch.float64
    assert repr(p) == "HypersphericalUniform(dim: 4, batch_shape: (2, 3))"
    assert repr(HypersphericalUniform(4)) == "HypersphericalUniform(dim: 4)"


def test_copies():
    p = HypersphericalUniform(4, (2,))
    file = io.BytesIO()
    torch.save(p, file)
    file.seek(0)
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p)), torch.load(file)):
        assert other.sample().shape == (2, 4)
