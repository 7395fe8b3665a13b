# SPDX-License-Identifier: MIT
"""Sampling as in the paper's Algorithms 1 to 3, with the gradients of its section 3.4.

Algorithm 1 (`_assemble`) joins a weight omega along the mean with a uniform tangent direction,
Algorithm 2 (`_accepted_epsilon`) draws omega by rejection (Wood 1994), Algorithm 3 (`householder`)
turns e1 into mu.
"""

import torch
from torch import Generator, Size, Tensor

from svmf._direction import direction
from svmf._gradients import PATHWISE, check_gradient_of_sample
from svmf._torch_private import standard_gamma
from svmf.reference.density import vmf_kl_uniform, vmf_log_norm
from svmf.reference.pathwise import vmf_pathwise_derivative

__all__ = [
    "expected_proposals",
    "householder",
    "vmf_rsample",
    "vmf_rsample_kl",
    "vmf_rsample_kl_from_features",
    "vmf_rsample_with_correction",
]

_MAX_ROUNDS = 1000


def householder(x: Tensor, loc: Tensor) -> Tensor:
    """(I - 2 u u^T) x with u = (e1 - mu) / |e1 - mu|, in O(m)  (Algorithm 3)."""
    e1 = torch.zeros_like(loc)
    e1[..., 0] = 1
    difference = e1 - loc
    same = (difference == 0).all(-1, keepdim=True)
    length = torch.where(same, torch.ones_like(loc), difference).norm(dim=-1, keepdim=True)
    u = difference / length
    return x - 2 * u * (u * x).sum(-1, keepdim=True)


def _proposal_b(kappa: Tensor, dim: int) -> Tensor:
    return (-2 * kappa + torch.sqrt(4 * kappa**2 + (dim - 1) ** 2)) / (dim - 1)


def _omega_of_epsilon(epsilon: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """h(epsilon, kappa), the reparameterised proposal."""
    b = _proposal_b(kappa, dim)
    return (1 - (1 + b) * epsilon) / (1 - (1 - b) * epsilon)


def _draw_beta(half: float, like: Tensor, generator: Generator | None) -> Tensor:
    """Beta(half, half) as a ratio of two Gamma variables."""
    shape = torch.full_like(like, half)
    first = standard_gamma(shape, generator)
    second = standard_gamma(shape, generator)
    return first / (first + second)


def _accepted_epsilon(
    kappa: Tensor, dim: int, generator: Generator | None
) -> tuple[Tensor, Tensor]:
    """Algorithm 2: the accepted epsilon of each row, and how many proposals the row took. kappa is
    flat."""
    kappa = kappa.detach()
    b = _proposal_b(kappa, dim)
    a = ((dim - 1) + 2 * kappa + torch.sqrt(4 * kappa**2 + (dim - 1) ** 2)) / 4
    d = 4 * a * b / (1 + b) - (dim - 1) * torch.tensor(dim - 1.0, dtype=kappa.dtype).log()
    epsilon = torch.full_like(kappa, torch.nan)
    proposals = torch.zeros_like(kappa)
    pending = (kappa.isfinite() & (kappa >= 0)).nonzero().squeeze(-1)
    for _ in range(_MAX_ROUNDS):
        if pending.numel() == 0:
            return epsilon, proposals
        proposal = _draw_beta((dim - 1) / 2, kappa[pending], generator)
        t = 2 * a[pending] * b[pending] / (1 - (1 - b[pending]) * proposal)
        u = torch.rand(pending.shape, dtype=kappa.dtype, device=kappa.device, generator=generator)
        accept = (dim - 1) * t.log() - t + d[pending] >= u.log()
        proposals[pending] += 1
        epsilon[pending[accept]] = proposal[accept]
        pending = pending[~accept]
    raise RuntimeError(
        f"vmf_rsample: no proposal accepted in {_MAX_ROUNDS} rounds at dim = {dim}, "
        f"kappa = {kappa[pending[0]]:g}; the paper's b has cancelled to zero"
    )


def _omega_on_s2(kappa: Tensor, generator: Generator | None) -> Tensor:
    """omega for m = 3 without rejection: the inverse of its distribution function at a uniform
    u."""
    u = torch.rand(kappa.shape, dtype=kappa.dtype, device=kappa.device, generator=generator)
    at_zero = kappa == 0
    positive = torch.where(at_zero, 1.0, kappa)
    omega = 1 + torch.log(u + (1 - u) * torch.exp(-2 * positive)) / positive
    return torch.where(at_zero, (2 * u - 1) + 2 * u * (1 - u) * kappa, omega)  # Taylor at kappa = 0


def _log_ratio(epsilon: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """log g(h(epsilon, kappa)) - log r(h(epsilon, kappa)), up to terms without kappa; g and h as in
    the appendix."""
    b = _proposal_b(kappa, dim)
    omega = _omega_of_epsilon(epsilon, kappa, dim)
    log_g = vmf_log_norm(kappa, dim) + omega * kappa + (dim - 3) / 2 * torch.log(1 - omega**2)
    return log_g + torch.log(2 * b / ((b - 1) * epsilon + 1) ** 2)


def _assemble(omega: Tensor, loc: Tensor, generator: Generator | None) -> Tensor:
    """Algorithm 1: z' = (omega, sqrt(1 - omega^2) v) around e1, reflected to mu."""
    shape = (*omega.shape, loc.shape[-1] - 1)
    normal = torch.randn(shape, dtype=loc.dtype, device=loc.device, generator=generator)
    tangent = normal / normal.norm(dim=-1, keepdim=True)
    omega = omega.unsqueeze(-1)
    around_e1 = torch.cat([omega, (1 - omega**2).clamp_min(0).sqrt() * tangent], dim=-1)
    return householder(around_e1.to(loc.dtype), loc)


def _expand(
    loc: Tensor, kappa: Tensor, sample_shape: Size | tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """loc and kappa with the shape of the samples; kappa in float64."""
    shape = torch.Size(sample_shape) + torch.broadcast_shapes(loc.shape[:-1], kappa.shape)
    return loc.expand(*shape, loc.shape[-1]), kappa.double().expand(shape)


def vmf_rsample(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Size | tuple[int, ...] = (),
    *,
    gradient: str = PATHWISE,
    generator: Generator | None = None,
) -> Tensor:
    """Samples z, with the pathwise gradient in kappa or (gradient="rejection") the paper's g_rep
    alone."""
    check_gradient_of_sample("vmf_rsample", gradient)
    dim = loc.shape[-1]
    loc, kappa = _expand(loc, kappa, sample_shape)
    if dim == 3:
        omega = _omega_on_s2(kappa, generator)
        return _assemble(omega, loc, generator)
    epsilon, _ = _accepted_epsilon(kappa.flatten(), dim, generator)
    omega = _omega_of_epsilon(epsilon.view(kappa.shape), kappa, dim)
    if gradient == PATHWISE:
        omega = omega.detach()
        if kappa.requires_grad:
            derivative = vmf_pathwise_derivative(omega, kappa.detach(), dim)
            omega = omega + derivative * (kappa - kappa.detach())
    return _assemble(omega, loc, generator)


def vmf_rsample_kl(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Size | tuple[int, ...] = (),
    *,
    gradient: str = PATHWISE,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """(z, KL to the uniform distribution): what one training step needs."""
    z = vmf_rsample(loc, kappa, sample_shape, gradient=gradient, generator=generator)
    return z, vmf_kl_uniform(kappa, loc.shape[-1])


def vmf_rsample_kl_from_features(
    features: Tensor,
    raw_concentration: Tensor,
    sample_shape: Size | tuple[int, ...] = (),
    *,
    gradient: str = PATHWISE,
    offset: float = 1.0,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """The same of loc = features / |features| and kappa = offset + softplus(raw_concentration)."""
    loc = direction(features)
    kappa = torch.nn.functional.softplus(raw_concentration, threshold=40) + offset
    return vmf_rsample_kl(loc, kappa, sample_shape, gradient=gradient, generator=generator)


def vmf_rsample_with_correction(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Size | tuple[int, ...] = (),
    *,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """(z, log_ratio): z carries g_rep; f(z) + f(z).detach() * log_ratio has the gradient g_rep +
    g_cor.

    log_ratio is zero with the gradient of log(g / r) at the accepted epsilon. For m = 3 nothing is
    rejected and the gradient is zero too.
    """
    dim = loc.shape[-1]
    loc, k = _expand(loc, kappa, sample_shape)
    if dim == 3:
        z = _assemble(_omega_on_s2(k, generator), loc, generator)
        return z, torch.zeros_like(k, dtype=kappa.dtype)
    epsilon, _ = _accepted_epsilon(k.flatten(), dim, generator)
    epsilon = epsilon.view(k.shape)
    z = _assemble(_omega_of_epsilon(epsilon, k, dim), loc, generator)
    log_ratio = _log_ratio(epsilon, k, dim)
    return z, (log_ratio - log_ratio.detach()).to(kappa.dtype)


def expected_proposals(
    kappa: float, dim: int, draws: int = 1000, generator: Generator | None = None
) -> float:
    """Mean number of proposals until acceptance over `draws` runs: an entry of the paper's appendix
    table."""
    kappas = torch.full((draws,), float(kappa), dtype=torch.float64)
    _, proposals = _accepted_epsilon(kappas, dim, generator)
    return proposals.mean().item()
