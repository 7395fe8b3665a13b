# SPDX-License-Identifier: MIT
"""The losses are the densities they say, descent recovers what was drawn, and torch.compile,
half types and mistakes are as everywhere."""

import pytest
import torch
from helpers.exact import directions, vmf_log_norm

from svmf import losses
from svmf.distributions import VonMisesFisher
from svmf.losses import (
    VonMisesFisherClassifier,
    VonMisesFisherHead,
    VonMisesFisherNLLLoss,
    vmf_class_logits,
    vmf_classification_loss,
    vmf_nll_loss,
)

pytestmark = pytest.mark.usefixtures("values_are_checked")


@pytest.mark.parametrize(("dim", "kappa"), [(2, 0.3), (3, 500.0), (300, 40.0), (4096, 3000.0)])
def test_value(dim, kappa):
    loc, target = directions(4, dim), directions(4, dim, seed=1)
    expected = -vmf_log_norm(kappa, dim) - kappa * (loc * target).sum(-1)
    one = vmf_nll_loss(kappa * loc, target, reduction="none")
    concentration = torch.full((4, 1), kappa, dtype=torch.float64)
    two = vmf_nll_loss(loc, target, concentration, reduction="none")
    torch.testing.assert_close(one, expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(two, expected, rtol=1e-10, atol=1e-10)
    module = VonMisesFisherNLLLoss(reduction="sum")
    torch.testing.assert_close(module(kappa * loc, target), expected.sum(), rtol=1e-10, atol=0)


def test_gradients():
    vector, target = (5 * directions(3, 4)).requires_grad_(), directions(3, 4, seed=1)
    assert torch.autograd.gradcheck(lambda v: vmf_nll_loss(v, target), vector)
    assert torch.autograd.gradgradcheck(lambda v: vmf_nll_loss(v, target), vector)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_prediction_of_zero_has_the_gradient_of_zero(dtype):
    """A(kappa) mu - target at kappa = 0: minus the target, so that descent leaves the origin."""
    vector, target = torch.zeros(2, 5, dtype=dtype, requires_grad=True), directions(2, 5).to(dtype)
    loss = vmf_nll_loss(vector, target, reduction="sum")
    (gradient,) = torch.autograd.grad(loss, vector)
    torch.testing.assert_close(gradient, -target, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("length", [0.0, 1e-45, 1e-30, 1e-19, 1e-12, 1e-3])
def test_second_derivatives_of_short_predictions(length, dtype):
    """The Hessian at 0 is that of the log partition, I / m; its two terms alone grow as 1/|v|."""
    vector, target = (length * directions(5)).to(dtype), directions(5, seed=1).to(dtype)
    hessian = torch.autograd.functional.hessian(lambda v: vmf_nll_loss(v, target), vector)
    torch.testing.assert_close(hessian, torch.eye(5, dtype=dtype) / 5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("length", [0.99, 1.01])
def test_both_formulas_agree_where_they_meet(length):
    """In values and in gradients, also in a target that leaves the sphere."""
    vector, target = (length * directions(5)).requires_grad_(), directions(5, seed=1)
    target.requires_grad_()
    loss = vmf_nll_loss(vector, target)
    mu, kappa = vector / vector.norm(), vector.norm()
    again = -torch.ops.svmf.vmf_log_prob(target, mu, kappa)
    torch.testing.assert_close(loss, again)
    ours = torch.autograd.grad(loss, (vector, target))
    torch.testing.assert_close(ours, torch.autograd.grad(again, (vector, target)))


@pytest.mark.parametrize("length", [1e-30, 1e-20, 1e-15, 1e20, 1e30])
def test_vectors_whose_squares_have_no_place_in_float32(length):
    """The direction of a row does not depend on its length, and its gradient is finite."""
    vector, prototypes = directions(6, 5).float(), directions(3, 5, seed=1).float()
    kappa = torch.tensor([1.0, 10.0, 100.0])
    expected = vmf_class_logits(vector, prototypes, kappa)
    features, others = (length * vector).requires_grad_(), length * prototypes
    logits = vmf_class_logits(features, others, kappa)
    torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-4)
    (slope,) = torch.autograd.grad(logits.sum(), features)
    assert bool(slope.isfinite().all())

    head = VonMisesFisherHead(5, 5)
    head.direction.weight.data = torch.eye(5)
    head.direction.bias.data.zero_()
    torch.testing.assert_close(head(features)[0], vector)

    target = directions(6, 5, seed=2).float()
    loss = vmf_nll_loss(features, target, reduction="none")
    exact = vmf_nll_loss(
        features.detach().double(), target.double(), reduction="none", normalize=True
    )
    torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=1e-5)
    (slope,) = torch.autograd.grad(loss.sum(), features)
    assert bool(slope.isfinite().all())


def test_a_feature_of_zero_has_a_bounded_gradient():
    features = torch.zeros(2, 5, requires_grad=True)
    logits = vmf_class_logits(features, directions(3, 5).float(), torch.tensor(10.0))
    (slope,) = torch.autograd.grad(logits.sum(), features)
    assert float(slope.abs().max()) < 1e4
    loc, _ = VonMisesFisherHead(5, 3)(torch.zeros(2, 5))
    torch.testing.assert_close(loc.norm(dim=-1), torch.ones(2))


@pytest.mark.parametrize("dim", [3, 300, 4096])
@pytest.mark.parametrize("kappa", [100.0, 1000.0, 3000.0])
def test_descent_recovers_the_concentration(dim, kappa):
    """From kappa = sqrt(dim), in float32: the concentration of samples about a known direction.

    The maximum-likelihood estimate has a relative standard error 1 / (kappa sqrt(n A'(kappa))).
    """
    n = 2000 if dim < 100 else 200
    loc = directions(dim).float()
    generator = torch.Generator().manual_seed(1)
    target = VonMisesFisher(loc, kappa).sample((n,), generator=generator)
    scale = torch.zeros((), requires_grad=True)
    optimiser = torch.optim.Adam([scale], lr=0.1)
    for step in range(250):
        optimiser.param_groups[0]["lr"] = 0.2 * 0.98**step
        optimiser.zero_grad()
        vmf_nll_loss(loc, target, losses.concentration_from(scale, dim)).backward()
        optimiser.step()
    found = losses.concentration_from(scale, dim).detach()
    wide = found.double().requires_grad_()
    mean_length = VonMisesFisher(loc.double(), wide, validate_args=False).mean @ loc.double()
    (slope,) = torch.autograd.grad(mean_length, wide)
    error = 1 / (kappa * (n * slope.item()) ** 0.5)
    assert abs(found.item() / kappa - 1) < 4 * error + 1e-3


@pytest.mark.parametrize("dim", [3, 300])
def test_head_learns_direction_and_concentration(dim):
    """Two inputs with different directions and concentrations; both are those of `fit`."""
    truth = VonMisesFisher(directions(2, dim).float(), torch.tensor([100.0, 3000.0]))
    target = truth.sample((200,), generator=torch.Generator().manual_seed(0))
    features = torch.eye(2)
    torch.manual_seed(0)
    head = VonMisesFisherHead(2, dim)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    for step in range(600):
        optimiser.param_groups[0]["lr"] = 0.1 * 0.99**step
        optimiser.zero_grad()
        loc, kappa = head(features)
        vmf_nll_loss(loc, target, kappa).backward()
        optimiser.step()
    loc, kappa = head(features)
    fitted = VonMisesFisher.fit(target)
    assert ((loc * fitted.loc).sum(-1) > 0.9999).all()
    torch.testing.assert_close(kappa, fitted.concentration, rtol=0.02, atol=0)


def test_a_step_too_far_is_taken_back():
    scale = torch.tensor(50.0, requires_grad=True)
    kappa = losses.concentration_from(scale, 3)
    assert kappa.item() == pytest.approx(1e6, rel=1e-5)
    loc, target = directions(3).float(), directions(1, 3, seed=2).float()
    vmf_nll_loss(loc, target, kappa).backward()
    assert scale.grad > 0  # descent lowers it


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(dtype):
    """Computed in float32 from the rounded numbers."""
    vector, target = (40 * directions(6, 64)).to(dtype), directions(6, 64, seed=1).to(dtype)
    loss = vmf_nll_loss(vector, target)
    assert loss.dtype == torch.float32
    wide = torch.nn.functional.normalize(target.double(), dim=-1)
    torch.testing.assert_close(
        loss.double(), vmf_nll_loss(vector.double(), wide), rtol=1e-5, atol=0
    )
    head = VonMisesFisherClassifier(64, 3).to(dtype)
    assert head(vector).dtype == torch.float32
    assert head(vector).isfinite().all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loc, kappa = VonMisesFisherHead(64, 8)(target.float())
        assert vmf_nll_loss(loc, directions(6, 8).float(), kappa).isfinite()


@pytest.mark.parametrize("shared", [False, True])
def test_logits_are_densities(shared):
    """Their softmax is the posterior of a mixture with equal weights."""
    torch.manual_seed(0)
    head = VonMisesFisherClassifier(6, 4, concentration=9.0, shared=shared).double()
    with torch.no_grad():
        head.scale += torch.rand_like(head.scale)
    x = directions(5, 6)
    classes = VonMisesFisher(
        torch.nn.functional.normalize(head.prototypes, dim=-1), head.concentrations
    )
    log_density = classes.log_prob(x[:, None])
    uniform = VonMisesFisher(x, 0.0).log_prob(x)
    torch.testing.assert_close(head(3 * x), log_density - uniform[:, None])
    prior = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64).log()
    logits = vmf_class_logits(x, head.prototypes, head.concentrations, prior)
    torch.testing.assert_close(logits, log_density - uniform[:, None] + prior)
    target = torch.tensor([0, 1, 2, 3, 0])
    loss = vmf_classification_loss(x, target, head.prototypes, head.concentrations)
    posterior = log_density.log_softmax(-1)[torch.arange(5), target]
    torch.testing.assert_close(loss, -posterior.mean())


def test_classifier_learns_which_class_is_spread():
    """Classes that are apart say nothing about spread; a share of the likelihood does."""
    truth = VonMisesFisher(torch.eye(8)[:3], torch.tensor([20.0, 60.0, 200.0]))
    data = truth.sample((400,), generator=torch.Generator().manual_seed(0))
    target = torch.arange(3).expand(400, 3)
    torch.manual_seed(1)
    head = VonMisesFisherClassifier(8, 3)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.03)
    for _ in range(400):
        optimiser.zero_grad()
        head.loss(data, target, likelihood=10.0).backward()
        optimiser.step()
    assert (head(data).argmax(-1) == target).double().mean() > 0.99
    fitted = VonMisesFisher.fit(data).concentration
    torch.testing.assert_close(head.concentrations.detach(), fitted, rtol=0.1, atol=0)


@pytest.mark.parametrize("kind", ["vector", "head", "classifier"])
def test_compile(kind):
    torch.manual_seed(0)
    target = directions(6, 8).float()
    if kind == "vector":
        module, features = torch.nn.Linear(5, 8), torch.randn(6, 5)
        step = lambda x: vmf_nll_loss(module(x), target)  # noqa: E731
    elif kind == "head":
        module, features = VonMisesFisherHead(5, 8), torch.randn(6, 5)

        def step(x):
            loc, kappa = module(x)
            return vmf_nll_loss(loc, target, kappa)
    else:
        module, features = VonMisesFisherClassifier(8, 3), target
        label = torch.arange(6) % 3
        step = lambda x: torch.nn.functional.cross_entropy(module(x), label)  # noqa: E731
    loss = step(features)
    eager = torch.autograd.grad(loss, list(module.parameters()))
    compiled = torch.compile(step, fullgraph=True)(features)
    torch.testing.assert_close(compiled, loss)
    gradients = torch.autograd.grad(compiled, list(module.parameters()))
    torch.testing.assert_close(gradients, eager)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: vmf_nll_loss(x, 2 * x), r"vmf_nll_loss: expected `target`.*norm 2 at \[0\]"),
        (lambda x: vmf_nll_loss(2 * x, x, x[:, 0].abs()), "`prediction`.*norm 2"),
        (lambda x: vmf_nll_loss(x, x, reduction="max"), '"sum" or "none", got \'max\''),
        (lambda x: VonMisesFisherClassifier(3, 2, concentration=0), "`concentration` > 0"),
        (lambda x: VonMisesFisherClassifier(1, 2), "`in_features` of at least 2, got 1"),
        (lambda x: VonMisesFisherHead(3, 1), "VonMisesFisherHead: expected `dim` of at least 2"),
        (lambda x: vmf_nll_loss(x, directions(4, 5)), r"one m of at least 2, got \[4, 3\] and"),
        (lambda x: vmf_nll_loss(x, x[:3]), "vmf_nll_loss: expected batch shapes that broadcast"),
        (lambda x: vmf_class_logits(x, x[0], x[0]), r"`prototypes` of shape \[c, m\]"),
        (lambda x: vmf_class_logits(x, x, x[:, :1]), r"`concentrations` of shape \[c\], \[1\]"),
        (lambda x: vmf_class_logits(x, directions(4, 5), x[:, 0]), "`prototypes` of shape"),
        (lambda x: loss_of_labels(x, torch.zeros(2, 3)), r"`target` of shape \[3, 2\], one class"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call(directions(4, 3))


def loss_of_labels(x, labels):
    """Of features [3, 2, m], in classes of one concentration."""
    return vmf_classification_loss(x[:3, None].expand(3, 2, 3), labels.long(), x, x[0, 0].abs())


@pytest.mark.parametrize("argument", ["prediction", "target", "concentration"])
@pytest.mark.parametrize(
    "wrong", [1.0, [1.0], torch.ones(3, dtype=torch.int64), 1j * torch.ones(3)]
)
def test_arguments_that_are_no_real_tensors(argument, wrong):
    given = {"prediction": directions(3), "target": directions(3), "concentration": torch.ones(())}
    with pytest.raises(TypeError, match=f"vmf_nll_loss: expected `{argument}` to be a tensor of"):
        vmf_nll_loss(**{**given, argument: wrong})


def test_a_label_that_names_no_class_is_an_error():
    """torch would leave out -100, and still count it in the mean."""
    x, labels = directions(4, 3), torch.tensor([[0, 1], [2, 3], [0, -100]])
    with pytest.raises(IndexError, match="-100 is out of bounds"):
        loss_of_labels(x, labels)


def test_checks_can_be_left_out_or_mended():
    x = directions(4, 3)
    mended = vmf_nll_loss(7 * x, 2 * x, normalize=True)
    torch.testing.assert_close(mended, vmf_nll_loss(7 * x, x))
    assert vmf_nll_loss(7 * x, 2 * x, validate_args=False).isfinite()
