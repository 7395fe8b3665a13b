# SPDX-License-Identifier: MIT
"""The distributions in Pyro's models: NUTS, an automatic guide, plates; and the message without
Pyro."""

import pytest
import torch
from helpers.commands import python

from svmf.distributions import VonMisesFisher

TRUTH = VonMisesFisher(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(20.0))
# Pyro's own, with newer torch.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def test_message_without_pyro():
    hide = "import sys; sys.modules['pyro'] = None; import svmf.compat.pyro"
    done = python("-c", hide, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: svmf.compat.pyro needs Pyro: pip install pyro-ppl"


@pytest.fixture
def pyro():
    pyro = pytest.importorskip("pyro", reason="Pyro is not installed (pip install pyro-ppl)")
    pyro.set_rng_seed(0)
    pyro.clear_param_store()
    return pyro


@pytest.fixture
def model(pyro):
    from svmf.compat import pyro as ours

    def model(data):
        direction = pyro.sample("direction", ours.HypersphericalUniform(3))
        kappa = pyro.sample("kappa", pyro.distributions.LogNormal(2.0, 2.0))
        with pyro.plate("data", len(data)):
            pyro.sample("x", ours.VonMisesFisher(direction, kappa), obs=data)

    return model


def test_nuts(pyro, model):
    chain = pyro.infer.MCMC(
        pyro.infer.NUTS(model), num_samples=60, warmup_steps=60, disable_progbar=True
    )
    chain.run(TRUTH.sample((200,), generator=torch.Generator().manual_seed(1)))
    found = chain.get_samples()
    # 200 observations: kappa to about 7 per cent, the direction to about 0.02 in each coordinate.
    assert 15 < found["kappa"].mean() < 26
    assert found["direction"].mean(0)[2] > 0.99


def test_automatic_guide(pyro, model):
    data = TRUTH.sample((200,), generator=torch.Generator().manual_seed(1))
    guide = pyro.infer.autoguide.AutoNormal(model)
    step = pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), pyro.infer.Trace_ELBO()).step
    for _ in range(300):
        step(data)
    assert 15 < guide.median()["kappa"] < 26
    assert guide.median()["direction"][2] > 0.99


def test_methods_of_the_mixin(pyro):
    from svmf.compat import pyro as ours

    for q in (ours.VonMisesFisher(torch.eye(3), 1.0), ours.PowerSpherical(torch.eye(3), 1.0)):
        assert q.expand_by([2]).batch_shape == (2, 3)
        assert q.to_event(1).event_shape == (3, 3)
        assert q.mask(False).log_prob(torch.eye(3)).tolist() == [0, 0, 0]
        assert isinstance(q.expand((4, 3)), type(q))
