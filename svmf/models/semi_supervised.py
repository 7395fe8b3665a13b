# SPDX-License-Identifier: MIT
"""M1+M2 (Kingma et al. 2014), trained end to end, with any pair of latents.

Generative: p(y) p(z2) p(z1|y,z2) p(x|z1). Inference: q(z1|x) q(y|z1) q(z2|z1,y). An unobserved
label is summed out: the bound of an unlabelled row is the q(y|z1)-weighted sum over all classes
plus the entropy of q(y|z1). Most labels of most rows soon have no probability worth mentioning, and
every one costs two networks: a training step may leave them out (`labels_per_row`).
"""

import math
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from svmf.models.latents import Latent, with_correction
from svmf.models.likelihood import Likelihood
from svmf.models.networks import glorot_linear, mlp
from svmf.models.radius import Radius


class _PlusEachLabel(torch.autograd.Function):
    """hidden [rows, classes or 1, units] + label [classes, units]. The label's gradient sums over
    rows by a matrix product: the plain sum over the first dimension, as autograd writes it, took a
    tenth of a training step."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, label: Tensor) -> Tensor:
        ctx.shared = hidden.shape[1] == 1
        return hidden + label

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        grad = grads[0]
        rows = len(grad)
        label = (grad.new_ones(1, rows) @ grad.reshape(rows, -1)).view(grad.shape[1:])
        return grad.sum(1, keepdim=True) if ctx.shared else grad, label


class _WithLabel(nn.Module):
    """A hidden layer on (code, one-hot label), then a linear head. The label selects a column of
    weights instead of multiplying by them, so that one code with ten labels costs one product."""

    def __init__(self, coordinates: int, classes: int, hidden: int, outputs: tuple[int, ...]):
        super().__init__()
        first = glorot_linear(coordinates + classes, hidden)
        self.code = nn.Linear(coordinates, hidden)
        self.code.weight.data.copy_(first.weight[:, :coordinates])
        nn.init.zeros_(self.code.bias)
        self.label = nn.Parameter(first.weight[:, coordinates:].t().detach().clone())
        self.head = glorot_linear(hidden, outputs)

    def forward(self, code: Tensor, labels: Tensor) -> Tensor:
        """One label per code: [rows, coordinates] and [rows] give [rows, outputs]."""
        return self.head(F.relu(self.code(code) + self.label.index_select(0, labels)))

    def all_labels(self, code: Tensor) -> Tensor:
        """Every label for each code: [rows, coordinates] gives [rows, classes, outputs]; a code of
        [rows, classes, coordinates] differs between labels already."""
        hidden = F.linear(code, self.code.weight)
        hidden = hidden.unsqueeze(1) if hidden.dim() == 2 else hidden
        return self.head(F.relu(_PlusEachLabel.apply(hidden, self.label + self.code.bias)))


class SemiSupervisedVAE(nn.Module):
    """`alpha` scales the classification loss of the labelled rows, `labelled_weight` their bound,
    both beside the mean bound of the unlabelled rows. The mean over all data weights the labelled
    bound by labelled rows / unlabelled rows; a weight of 1 makes a hundred labelled images count as
    much as all others together, and they are learned by heart.

    `label_tolerance` is the mean probability per row that a step may leave out of the sum over
    labels. The term `labels_per_row` counts how many (row, label) pairs it would take to stay
    within it; the attribute of that name, None for all, says how many the step takes, the most
    probable ones of the batch.

    `radius` is that at which the networks see the spheres among z1 and z2, as in `VAE`."""

    terms: ClassVar[tuple[str, ...]] = (
        "re", "kl", "spread", "labelled", "accuracy", "labels_per_row",
    )  # fmt: skip

    def __init__(
        self,
        inputs: int,
        classes: int,
        latent1: Latent[Any],
        latent2: Latent[Any],
        likelihood: Likelihood,
        hidden: int = 500,
        alpha: float = 1.0,
        labelled_weight: float = 1.0,
        label_tolerance: float = 0.0,
        radius: str = "1",
    ) -> None:
        super().__init__()
        self.latent1, self.latent2 = latent1, latent2
        self.label_tolerance = label_tolerance
        self.labels_per_row: float | None = None
        self.classes, self.alpha, self.labelled_weight = classes, alpha, labelled_weight
        self.likelihood = likelihood
        self.radius1, self.radius2 = _seen_at(latent1, radius), _seen_at(latent2, radius)
        self.encoder1 = mlp([inputs, hidden], latent1.head_sizes)
        self.classifier = mlp([latent1.coordinates, hidden], classes)
        self.encoder2 = _WithLabel(latent1.coordinates, classes, hidden, latent2.head_sizes)
        self.prior1 = _WithLabel(latent2.coordinates, classes, hidden, latent1.head_sizes)
        self.decoder = mlp([latent1.coordinates, hidden], inputs)

    def forward(
        self, unlabelled: Tensor, labelled: Tensor, labels: Tensor, beta: Tensor | float = 1.0
    ) -> tuple[Tensor, Tensor]:
        """The loss, and the batch means of `terms`. beta scales every KL-like term."""
        split = [len(unlabelled), len(labelled)]
        x = torch.cat([unlabelled, labelled])
        posterior1 = self.latent1.posterior(self.encoder1(x))
        z1, _, log_ratio1 = self.latent1.draw(posterior1)
        seen = self.radius1(z1)
        re = self.likelihood(self.decoder(seen), x)
        entropy1 = self.latent1.entropy(posterior1)
        log_q = F.log_softmax(self.classifier(seen), dim=-1)
        z1_free, z1_given = z1.split(split)
        log_q_free, log_q_given = log_q.split(split)

        summed_out = (
            self._sum_over_labels(z1_free, log_q_free)
            if self.labels_per_row is None
            else self._sum_over_likely_labels(z1_free, log_q_free, self.labels_per_row)
        )
        observed = self._code_terms(z1_given, labels)
        code = torch.cat([summed_out, observed])
        log_q_label = log_q_given.gather(1, labels.unsqueeze(1)).squeeze(1)

        # everything that depends on z1 takes part in the correction of its gradient
        free, given = (re + beta * code).split(split)
        given = self.labelled_weight * given + self.alpha * log_q_label
        value = with_correction(torch.cat([free, given]), log_ratio1)
        mean_free, mean_given = (part.mean() for part in value.split(split))
        entropy_free, entropy_given = (part.mean() for part in entropy1.split(split))
        entropy = entropy_free + self.labelled_weight * entropy_given
        loss = -(mean_free + mean_given + beta * entropy)

        kl = -(code + entropy1)[: split[0]].mean()
        spread = self.latent1.spread(posterior1)[: split[0]].mean()
        right = (log_q_given.argmax(-1) == labels).to(re.dtype).mean()
        needed = self._labels_needed(log_q_free.detach())
        terms = [re[: split[0]].mean(), kl, spread, -log_q_label.mean(), right, needed]
        return loss, torch.stack([term.detach() for term in terms])

    def _sum_over_labels(self, z1: Tensor, log_q: Tensor) -> Tensor:
        """E_q(y|z1) [code terms - log q(y|z1)], [rows]."""
        return (log_q.exp() * (self._code_terms(z1, None) - log_q)).sum(-1)

    def _sum_over_likely_labels(self, z1: Tensor, log_q: Tensor, per_row: float) -> Tensor:
        """The same without the least probable pairs of row and label. A left-out pair would have
        added its q times the rest, to the gradient too: both vanish with q."""
        flat = log_q.flatten()
        pairs = flat.detach().topk(min(math.ceil(per_row * len(z1)), len(flat)), sorted=False)
        rows, labels = pairs.indices // self.classes, pairs.indices % self.classes
        log_q = flat.index_select(0, pairs.indices)
        added = log_q.exp() * (self._code_terms(z1.index_select(0, rows), labels) - log_q)
        return torch.zeros_like(z1[:, 0]).index_add(0, rows, added)

    def _labels_needed(self, log_q: Tensor) -> Tensor:
        if self.label_tolerance == 0:
            return log_q.new_full((), self.classes)
        left_out = log_q.exp().flatten().sort().values.cumsum(0)
        needed = left_out > self.label_tolerance * len(log_q)
        return needed.to(log_q.dtype).sum() / len(log_q)

    def _code_terms(self, z1: Tensor, labels: Tensor | None) -> Tensor:
        """E log p(z1|y,z2) + log p(y) - KL(q(z2|z1,y) || p(z2)): [rows] for given labels, [rows,
        classes] without."""
        seen = self.radius1(z1)
        if labels is None:
            posterior2 = self.latent2.posterior(self.encoder2.all_labels(seen))
            z1 = z1.unsqueeze(1)
        else:
            posterior2 = self.latent2.posterior(self.encoder2(seen, labels))
        z2, kl2, log_ratio2 = self.latent2.draw(posterior2)
        seen = self.radius2(z2)
        raw1 = self.prior1.all_labels(seen) if labels is None else self.prior1(seen, labels)
        log_p = self.latent1.log_prob(self.latent1.posterior(raw1), z1)
        return with_correction(log_p, log_ratio2) - kl2 - math.log(self.classes)

    @torch.no_grad()
    def elbo_terms(self, x: Tensor) -> Tensor:
        """RE, KL-like rest of the bound, spread, per row without labels, [3, rows]."""
        posterior1 = self.latent1.posterior(self.encoder1(x))
        z1, _, _ = self.latent1.draw(posterior1)
        seen = self.radius1(z1)
        log_q = F.log_softmax(self.classifier(seen), dim=-1)
        code = self._sum_over_labels(z1, log_q)
        kl = -(code + self.latent1.entropy(posterior1))
        re = self.likelihood(self.decoder(seen), x)
        return torch.stack([re, kl, self.latent1.spread(posterior1)])

    @torch.no_grad()
    def classify(self, x: Tensor) -> Tensor:
        """The most probable label at the mean of q(z1|x), [rows]."""
        posterior1 = self.latent1.posterior(self.encoder1(x))
        return self.classifier(self.radius1(self.latent1.mean(posterior1))).argmax(-1)

    @torch.no_grad()
    def analogies(self, x: Tensor) -> Tensor:
        """For each row the style z2 inferred from it, rendered with every label:
        [rows, classes, inputs]."""
        z1 = self.radius1(self.latent1.mean(self.latent1.posterior(self.encoder1(x))))
        labels = self.classifier(z1).argmax(-1)
        z2 = self.latent2.mean(self.latent2.posterior(self.encoder2(z1, labels)))
        style = self.radius2(z2).unsqueeze(1).expand(-1, self.classes, -1)
        mean1 = self.latent1.mean(self.latent1.posterior(self.prior1.all_labels(style)))
        return self.likelihood.mean(self.decoder(self.radius1(mean1)))


def _seen_at(latent: Latent[Any], radius: str) -> nn.Module:
    """What networks see of a code; a space without spheres is seen as it is."""
    spheres = any(unit for _, unit in latent.spheres)
    return Radius(latent, radius) if spheres and radius != "1" else nn.Identity()
