# SPDX-License-Identifier: MIT
"""Losses on the sphere: regression of directions, and classification by prototypes.

Each is a function and a module. Half types are computed in float32, where a log density of
thousands of nats keeps its digits, and give float32. `torch.compile` takes them whole.
"""

import math

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from svmf import functional as F
from svmf._direction import direction
from svmf._sphere import log_sphere_area, unit_and_length
from svmf.distributions._checks import common_batch
from svmf.distributions._data import unit_vectors

__all__ = [
    "VonMisesFisherClassifier",
    "VonMisesFisherHead",
    "VonMisesFisherNLLLoss",
    "vmf_class_logits",
    "vmf_classification_loss",
    "vmf_nll_loss",
]

# The concentrations that the functions hold for in float32.
_LARGEST = 1e6
# Stands for the length of shorter predictions, which may have no direction; the loss and its
# derivatives are those of length 0.
_TINY = 1e-15
# torch leaves labels of this value out of a loss, but not out of a mean: none is left out here.
_NO_CLASS = -(2**62)


def vmf_nll_loss(
    prediction: Tensor,
    target: Tensor,
    concentration: Tensor | None = None,
    *,
    reduction: str = "mean",
    normalize: bool = False,
    validate_args: bool | None = None,
) -> Tensor:
    """The negative log likelihood of unit vectors `target` [..., m] under predicted vMFs:

        -log C_m(kappa) - kappa mu.target

    Args:
        prediction: with `concentration`, mean directions mu [..., m], unit vectors. Without it,
            vectors v [..., m] of any length that say both, kappa = |v| and mu = v / |v|.
        target: unit vectors [..., m]; batch shapes broadcast.
        concentration: kappa >= 0, [...] or [..., 1].
        reduction: "mean", "sum" or "none".
        normalize: divide `target`, and mean directions, by their norms.
        validate_args: whether to check that they are unit vectors; as `torch.distributions` has it
            by default. The check reads the device.

    Differentiable twice in everything.
    """
    name = "vmf_nll_loss"
    check = Distribution._validate_args if validate_args is None else validate_args
    _check_vectors(name, prediction=prediction, target=target)
    common_batch(name, prediction.shape[:-1], target.shape[:-1])
    target = _directions(target, name, "target", normalize, check)
    if concentration is None:
        return _reduce(_nll_of_vectors(_widened(prediction), target), reduction, name)
    _check_real(name, concentration=concentration)
    loc = _directions(prediction, name, "prediction", normalize, check)
    concentration = _widened(concentration)
    if concentration.dim() == loc.dim() and concentration.shape[-1] == 1:
        concentration = concentration.squeeze(-1)
    dtype = torch.promote_types(target.dtype, loc.dtype)
    dtype = torch.promote_types(dtype, concentration.dtype)
    target, loc, concentration = target.to(dtype), loc.to(dtype), concentration.to(dtype)
    return _reduce(-F.vmf_log_prob(target, loc, concentration), reduction, name)


def _nll_of_vectors(prediction: Tensor, target: Tensor) -> Tensor:
    """-log p for kappa mu = `prediction`.

    The second derivatives of the two terms of -log p grow as 1/kappa where kappa is small, and
    cancel. So there it is L(kappa) - prediction.target + log S, neither of whose terms does.
    """
    dtype = torch.promote_types(target.dtype, prediction.dtype)
    prediction, target = torch.broadcast_tensors(prediction.to(dtype), target.to(dtype))
    largest = prediction.detach().abs().amax(-1, keepdim=True)
    prediction = torch.where(largest < _TINY, prediction + _TINY * target, prediction)
    inside = torch.linalg.vector_norm(prediction.detach(), dim=-1, keepdim=True) < 1
    # Each formula has the target in the place of what the other one takes.
    loc, length = unit_and_length(torch.where(inside, target, prediction))
    far = -F.vmf_log_prob(target, loc, length.squeeze(-1))
    short = torch.where(inside, prediction, target)
    kappa, m = unit_and_length(short)[1].squeeze(-1), target.shape[-1]
    # The last term, zero on the sphere, gives the gradient in `target` the same radial part.
    radial = kappa.detach() * (target.square().sum(-1) - 1) / 2
    near = F.vmf_log_partition(kappa, m) - (short * target).sum(-1) + log_sphere_area(m) + radial
    return torch.where(inside.squeeze(-1), near, far)


class VonMisesFisherNLLLoss(nn.Module):
    """`vmf_nll_loss` as a module: `loss(prediction, target)` or `loss(loc, target, kappa)`.

    >>> loss = VonMisesFisherNLLLoss()
    >>> target = torch.nn.functional.normalize(torch.ones(2, 3), dim=-1)
    >>> loss(50 * target, target)
    tensor(-2.0741)
    """

    def __init__(
        self, *, reduction: str = "mean", normalize: bool = False, validate_args: bool | None = None
    ) -> None:
        super().__init__()
        self.reduction, self.normalize = reduction, normalize
        self.validate_args = validate_args

    def forward(
        self, prediction: Tensor, target: Tensor, concentration: Tensor | None = None
    ) -> Tensor:
        return vmf_nll_loss(
            prediction,
            target,
            concentration,
            reduction=self.reduction,
            normalize=self.normalize,
            validate_args=self.validate_args,
        )

    def extra_repr(self) -> str:
        return f"reduction={self.reduction!r}, normalize={self.normalize}"


class VonMisesFisherHead(nn.Module):
    """A linear layer that predicts a direction in R^`dim` and its concentration.

    kappa = sqrt(dim) exp(s), with s a linear function of the features that starts at 0, where
    neither a small concentration nor a large one is far. The scale is logarithmic, so that descent
    finds concentrations up to 1e6; a step beyond that is taken back, not lost.

    Returns `(loc, concentration)`, for `VonMisesFisher` or `vmf_nll_loss`.

    >>> loc, kappa = VonMisesFisherHead(16, dim=3)(torch.ones(8, 16))
    >>> loc.shape, kappa.shape
    (torch.Size([8, 3]), torch.Size([8]))
    """

    def __init__(self, in_features: int, dim: int) -> None:
        super().__init__()
        _check_sizes("VonMisesFisherHead", "dim", dim)
        self.dim = dim
        self.direction = nn.Linear(in_features, dim)
        self.scale = nn.Linear(in_features, 1)
        nn.init.zeros_(self.scale.weight)
        nn.init.zeros_(self.scale.bias)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        loc = direction(_widened(self.direction(features)))
        return loc, concentration_from(_widened(self.scale(features)).squeeze(-1), self.dim)


def concentration_from(scale: Tensor, dim: int) -> Tensor:
    """kappa = sqrt(dim) exp(scale), at most 1e6; the gradient does not end at the bound."""
    bound = math.log(_LARGEST / math.sqrt(dim))
    inside = scale.clamp(min=-30.0, max=bound)
    return math.sqrt(dim) * (scale + (inside - scale).detach()).exp()


def vmf_class_logits(
    features: Tensor, prototypes: Tensor, concentrations: Tensor, log_prior: Tensor | None = None
) -> Tensor:
    """Log densities of classes relative to the uniform density, [..., c]:

        logit_j = log prior_j + kappa_j mu_j.x + log C_m(kappa_j) - log C_m(0)

    With x the direction of `features` [..., m], mu_j that of `prototypes` [c, m], and kappa_j =
    `concentrations` [c] or one for all. Their softmax is the posterior of the classes. A vector of
    zeros points along the first axis, with a bounded gradient.
    """
    _check_classes("vmf_class_logits", features, prototypes, concentrations)
    x = direction(_widened(features))
    dtype = x.dtype
    loc = direction(_widened(prototypes).to(dtype))
    kappa = _widened(concentrations).to(dtype)
    logits = kappa * (x @ loc.mT) - F.vmf_log_partition(kappa, prototypes.shape[-1])
    return logits if log_prior is None else logits + log_prior


def vmf_classification_loss(
    features: Tensor,
    target: Tensor,
    prototypes: Tensor,
    concentrations: Tensor,
    log_prior: Tensor | None = None,
    *,
    likelihood: float = 0.0,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of the posterior of `vmf_class_logits` with classes `target` [...]:

        -log softmax(logits)_target - likelihood * logit_target

    The cross entropy alone says little about the spread of classes that lie apart; with a weight
    `likelihood` the concentrations approach those of the classes, as the second term is the log
    density.
    """
    name = "vmf_classification_loss"
    _check_classes(name, features, prototypes, concentrations)
    if target.shape != features.shape[:-1]:
        raise ValueError(
            f"{name}: expected `target` of shape {list(features.shape[:-1])}, one class for each "
            f"of `features`, got shape {list(target.shape)}"
        )
    logits = vmf_class_logits(features, prototypes, concentrations, log_prior)
    logits, target = logits.reshape(-1, prototypes.shape[0]), target.flatten()
    loss = nn.functional.cross_entropy(
        logits, target, label_smoothing=label_smoothing, reduction="none", ignore_index=_NO_CLASS
    )
    if likelihood:
        loss = loss - likelihood * logits.gather(-1, target[:, None]).squeeze(-1)
    return _reduce(loss, reduction, name)


class VonMisesFisherClassifier(nn.Module):
    """A last layer that classifies directions: prototypes with learned concentrations.

    Each class is vMF(mu_j, kappa_j) on the sphere of the features; the logits are
    `vmf_class_logits`, for `nn.CrossEntropyLoss`. `loss` can add a share of the likelihood, with
    which a class that is spread learns a small concentration and a tight one a large one.

    Args:
        in_features: m, the dimension of the features; they are normalised inside.
        num_classes: number of classes.
        concentration: kappa of every class at the start.
        shared: one concentration for all classes instead of one each.

    >>> head = VonMisesFisherClassifier(64, 10)
    >>> head(torch.ones(5, 64)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        concentration: float = 16.0,
        shared: bool = False,
    ) -> None:
        super().__init__()
        _check_sizes("VonMisesFisherClassifier", "in_features", in_features)
        if not 0 < concentration <= _LARGEST:
            raise ValueError(
                "VonMisesFisherClassifier: expected `concentration` > 0 and at most 1e6, "
                f"got {concentration}"
            )
        prototypes = torch.randn(num_classes, in_features)
        self.prototypes = nn.Parameter(nn.functional.normalize(prototypes, dim=-1))
        start = math.log(concentration / math.sqrt(in_features))
        self.scale = nn.Parameter(torch.full((1 if shared else num_classes,), start))

    @property
    def concentrations(self) -> Tensor:
        """kappa of each class, [c]."""
        kappa = concentration_from(_widened(self.scale), self.prototypes.shape[1])
        return kappa.expand(self.prototypes.shape[0])

    def forward(self, features: Tensor) -> Tensor:
        return vmf_class_logits(features, self.prototypes, self.concentrations)

    def loss(self, features: Tensor, target: Tensor, *, likelihood: float = 0.0) -> Tensor:
        """`vmf_classification_loss` of this layer."""
        return vmf_classification_loss(
            features, target, self.prototypes, self.concentrations, likelihood=likelihood
        )

    def extra_repr(self) -> str:
        classes, features = self.prototypes.shape
        shared = self.scale.numel() != classes
        return f"in_features={features}, num_classes={classes}, shared={shared}"


def _check_real(name: str, **arguments: Tensor) -> None:
    for argument, value in arguments.items():
        if not isinstance(value, Tensor) or not value.is_floating_point():
            got = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(
                f"{name}: expected `{argument}` to be a tensor of a floating type, got {got}"
            )
        if value.layout != torch.strided:
            raise TypeError(f"{name}: expected `{argument}` to be dense, got {value.layout}")


def _check_vectors(name: str, **arguments: Tensor) -> None:
    """Raises unless both arguments hold vectors of one R^m."""
    _check_real(name, **arguments)
    first, second = arguments.values()
    if first.dim() < 1 or first.shape[-1:] != second.shape[-1:] or first.shape[-1] < 2:
        raise ValueError(
            f"{name}: expected {' and '.join(f'`{argument}`' for argument in arguments)} of shape "
            f"[..., m] with one m of at least 2, got {list(first.shape)} and {list(second.shape)}"
        )


def _check_sizes(name: str, argument: str, m: int) -> None:
    if m < 2:
        raise ValueError(f"{name}: expected `{argument}` of at least 2, got {m}")


def _check_classes(name: str, features: Tensor, prototypes: Tensor, concentrations: Tensor) -> None:
    _check_vectors(name, features=features, prototypes=prototypes)
    _check_real(name, concentrations=concentrations)
    if prototypes.dim() != 2 or concentrations.shape not in ((), (1,), prototypes.shape[:1]):
        raise ValueError(
            f"{name}: expected `prototypes` of shape [c, m] and `concentrations` of shape [c], [1] "
            f"or [], got {list(prototypes.shape)} and {list(concentrations.shape)}"
        )


def _widened(value: Tensor) -> Tensor:
    """float64 as it is, everything narrower as float32."""
    return value if value.dtype == torch.float64 else value.float()


def _directions(value: Tensor, name: str, argument: str, normalize: bool, check: bool) -> Tensor:
    """Unit vectors in float32 or float64; those of half types are normalised again."""
    if normalize or check:
        value = unit_vectors(value, name=name, argument=argument, normalize=normalize)
    if value.dtype in (torch.float32, torch.float64):
        return value
    return nn.functional.normalize(value.float(), dim=-1)


def _reduce(loss: Tensor, reduction: str, name: str) -> Tensor:
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(
            f'{name}: expected `reduction` to be "mean", "sum" or "none", got {reduction!r}'
        )
    return loss
