# SPDX-License-Identifier: MIT
"""M1+M2: the bound written out label by label, the classification weight, and learning."""

import math

import pytest
import torch
import torch.nn.functional as F

from svmf.models import Bernoulli, GaussianLatent, SemiSupervisedVAE, SphericalLatent

PAIRS = [
    (GaussianLatent, GaussianLatent),
    (SphericalLatent, SphericalLatent),
    (SphericalLatent, GaussianLatent),
]
ONE = torch.tensor(1.0)


def make(pair, alpha=1.0, labelled_weight=1.0, classes=3, seed=0):
    torch.manual_seed(seed)
    return SemiSupervisedVAE(
        8,
        classes,
        pair[0](2),
        pair[1](4),
        Bernoulli(),
        hidden=16,
        alpha=alpha,
        labelled_weight=labelled_weight,
    ).double()


def rows(count, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return (torch.rand(count, 8, generator=draw) < 0.4).double()


def bound_by_hand(model, x, z1, posterior1, z2_of_label):
    """sum_y q(y|z1) [log p(x|z1) + log p(z1|y,z2) + log p(y) - KL2 - log q(y|z1)] + H(q(z1|x)), one
    label at a time with one-hot inputs."""
    log_q = F.log_softmax(model.classifier(z1), -1)
    total = model.likelihood(model.decoder(z1), x) + model.latent1.entropy(posterior1)
    for label in range(model.classes):
        labels = torch.full((len(x),), label)
        posterior2 = model.latent2.posterior(model.encoder2(z1, labels))
        z2, kl2 = z2_of_label(label, posterior2)
        prior1 = model.latent1.posterior(model.prior1(z2, labels))
        inner = model.latent1.log_prob(prior1, z1) - math.log(model.classes) - kl2
        total = total + log_q[:, label].exp() * (inner - log_q[:, label])
    return total


def draw_means(model, monkeypatch):
    """Draws become posterior means, so that two ways to the bound see the same z1 and z2."""
    for latent in (model.latent1, model.latent2):
        draw = type(latent).draw

        def mean_draw(posterior, latent=latent, draw=draw):
            return draw(latent, posterior)._replace(z=latent.mean(posterior))

        monkeypatch.setattr(latent, "draw", mean_draw)


@pytest.mark.parametrize("pair", PAIRS)
def test_bound_sums_out_the_label(pair, monkeypatch):
    model = make(pair)
    x = rows(6)
    draw_means(model, monkeypatch)
    with torch.no_grad():
        posterior1 = model.latent1.posterior(model.encoder1(x))
        z1 = model.latent1.mean(posterior1)

        def z2_of_label(label, posterior2):
            drawn = model.latent2.draw(posterior2)
            return drawn.z, drawn.kl

        expected = bound_by_hand(model, x, z1, posterior1, z2_of_label)
        re, kl, _ = model.elbo_terms(x)
    torch.testing.assert_close(re - kl, expected)


def loss_and_gradients(model, labels_per_row):
    model.labels_per_row = labels_per_row
    loss, terms = model(rows(6), rows(3, 1), torch.arange(3), ONE.double())
    return [loss.detach(), terms, *torch.autograd.grad(loss, list(model.parameters()))]


@pytest.mark.parametrize("pair", PAIRS)
def test_all_pairs_of_row_and_label_make_the_whole_sum(pair, monkeypatch):
    model = make(pair)
    draw_means(model, monkeypatch)
    exact = loss_and_gradients(model, None)
    for ours, whole in zip(loss_and_gradients(model, 3.0), exact, strict=True):
        torch.testing.assert_close(ours, whole)


@pytest.mark.parametrize("pair", PAIRS)
def test_improbable_labels_can_be_left_out(pair, monkeypatch):
    """The third label has a probability of about 1e-8: without it, value and gradients are the
    same to that order. Without a label that has a probability, they are not."""
    model = make(pair)
    draw_means(model, monkeypatch)
    model.classifier[-1].bias.data[2] = -18.0
    exact = loss_and_gradients(model, None)
    for ours, whole in zip(loss_and_gradients(model, 2.0), exact, strict=True):
        torch.testing.assert_close(ours, whole, rtol=1e-5, atol=1e-5)
    assert abs(float(loss_and_gradients(model, 1.0)[0] - exact[0])) > 0.1


@pytest.mark.parametrize(
    ("tolerance", "needed"), [(0.0, 3.0), (1e-6, 3.0), (0.06, 2.5), (0.16, 2.0), (0.5, 1.0)]
)
def test_labels_needed_leave_out_no_more_than_the_tolerance(tolerance, needed):
    model = make(PAIRS[0])
    model.label_tolerance = tolerance
    q = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]])  # of mean 0.05 for the least pair
    assert float(model._labels_needed(q.log())) == needed


@pytest.mark.parametrize("shape", [(6, 4), (6, 3, 4)], ids=["shared code", "code per label"])
def test_all_labels_equal_one_label_at_a_time(shape):
    """Values and all gradients; forward() leaves the broadcast and its gradient to torch."""
    network = make(PAIRS[0]).prior1
    inputs = (torch.randn(shape, dtype=torch.float64).requires_grad_(), *network.parameters())
    code = inputs[0]
    together = network.all_labels(code)
    each = [network(code if code.dim() == 2 else code[:, c], torch.full((6,), c)) for c in range(3)]
    apart = torch.stack(each, dim=1)
    torch.testing.assert_close(together, apart)
    weights = torch.randn_like(apart)
    for got, want in zip(
        torch.autograd.grad((together * weights).sum(), inputs),
        torch.autograd.grad((apart * weights).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("pair", PAIRS)
def test_alpha_scales_the_classification_loss(pair):
    x, y = rows(6), torch.tensor([0, 1, 2, 0, 1, 2])
    losses = []
    for alpha in (0.0, 1.0, 2.0):
        model = make(pair, alpha)
        torch.manual_seed(5)
        loss, terms = model(x, x, y, ONE.double())
        losses.append(float(loss.detach()))
    cross_entropy = float(terms[model.terms.index("labelled")])
    assert losses[1] - losses[0] == pytest.approx(cross_entropy, rel=1e-9)
    assert losses[2] - losses[1] == pytest.approx(cross_entropy, rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
def test_weight_scales_the_labelled_bound(pair):
    x, y = rows(6), torch.tensor([0, 1, 2, 0, 1, 2])
    losses = []
    for weight in (0.0, 1.0, 2.0):
        torch.manual_seed(5)
        loss, _ = make(pair, 0.0, weight)(x, x, y, ONE.double())
        losses.append(float(loss.detach()))
    assert losses[1] - losses[0] == pytest.approx(losses[2] - losses[1], rel=1e-9)
    # given labels the bound lacks the sum over labels and its entropy, and is of the same size
    assert 0.5 < (losses[1] - losses[0]) / losses[0] < 2.0


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("gradient", ["pathwise", "corrected"])
def test_it_learns_to_classify(pair, gradient):
    """Two patterns with noise, a handful of labels."""
    torch.manual_seed(0)
    families = [f(2, gradient if gradient in f.gradients() else "pathwise") for f in pair]
    model = SemiSupervisedVAE(8, 2, *families, Bernoulli(), hidden=32, alpha=10.0)
    pattern = torch.tensor([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]]).float()
    labels = torch.arange(200) % 2
    x = (torch.rand(200, 8) < 0.1 + 0.8 * pattern[labels]).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        optimizer.zero_grad()
        loss, _ = model(x, x[:10], labels[:10], ONE)
        loss.backward()
        optimizer.step()
    assert float((model.classify(x) == labels).float().mean()) > 0.9
    assert model.analogies(x[:3]).shape == (3, 2, 8)


def test_corrected_gradient_reaches_both_latents():
    torch.manual_seed(0)
    model = SemiSupervisedVAE(
        8, 3, SphericalLatent(2, "corrected"), SphericalLatent(4, "corrected"), Bernoulli(), 16
    )
    loss, _ = model(rows(6).float(), rows(3).float(), torch.arange(3), ONE)
    loss.backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert bool(torch.isfinite(weight.grad).all()), name


@pytest.mark.parametrize("pair", PAIRS[1:])
def test_a_radius_is_a_scale_of_what_the_networks_see(pair):
    """Networks that see a sphere at radius sqrt(m) with weights smaller by as much compute what
    those at radius one do: loss, bound, labels and analogies."""
    plain = make(pair)
    scaled = SemiSupervisedVAE(
        8, 3, pair[0](2), pair[1](4), Bernoulli(), hidden=16, radius="sqrt"
    ).double()
    scaled.load_state_dict(plain.state_dict())
    with torch.no_grad():
        for first in (scaled.classifier[0], scaled.decoder[0], scaled.encoder2.code):
            first.weight /= math.sqrt(3)
        if pair[1] is SphericalLatent:
            scaled.prior1.code.weight /= math.sqrt(5)
    x, labels = rows(6), torch.tensor([0, 1])

    def results(model):
        torch.manual_seed(1)
        loss, terms = model(x, x[:2], labels)
        rest = (model.elbo_terms(x), model.classify(x), model.analogies(x))
        return loss, terms, *rest

    # the radius is a float32 number, as in `VAE`
    for one, other in zip(results(plain), results(scaled), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
