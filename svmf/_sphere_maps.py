# SPDX-License-Identifier: MIT
"""Two smooth maps of the sphere S^(m-1) onto itself with known inverse and area factor, O(m) each.

    moebius   y = (1 - |w|^2) / |z - w|^2 (z - w) - w,  |w| < 1     inverse: the one of -w
    stretch   y = A z / |A z|,  A = I + v v^T                       inverse: by A^-1

The area grows by ((1 - |w|^2) / |z - w|^2)^(m-1) and by det A / |A z|^m. Maps of one kind are a
group: a chain of Moebius maps and rotations is one Moebius map. Only both kinds by turns give more.
"""

import torch
from torch import Tensor


def moebius(z: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """The image of unit vectors z [..., m], and the log of the area factor [...]."""
    apart = z - w
    inside = 1 - w.square().sum(-1)
    ratio = inside / apart.square().sum(-1)
    return ratio.unsqueeze(-1) * apart - w, (z.shape[-1] - 1) * ratio.log()


def stretch(z: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The same for the stretch along v by 1 + |v|^2, whose images are of unit length again."""
    along = (z * v).sum(-1, keepdim=True)
    image = z + along * v
    length = torch.linalg.vector_norm(image, dim=-1, keepdim=True)
    log_det = torch.log1p(v.square().sum(-1))
    return image / length, log_det - z.shape[-1] * length.squeeze(-1).log()


def inverse_stretch(y: Tensor, v: Tensor) -> Tensor:
    share = (y * v).sum(-1, keepdim=True) / (1 + v.square().sum(-1, keepdim=True))
    image = y - share * v
    return image / torch.linalg.vector_norm(image, dim=-1, keepdim=True)


def forward_maps(z: Tensor, centres: Tensor, stretches: Tensor) -> tuple[Tensor, Tensor]:
    """Layers [..., layers, m], each a Moebius map before a stretch: the image of z [..., m] and the
    log of the area factor of all."""
    total = torch.zeros_like(z[..., 0])
    for w, v in zip(centres.unbind(-2), stretches.unbind(-2), strict=True):
        z, first = moebius(z, w)
        z, second = stretch(z, v)
        total = total + first + second
    return z, total


def backward_maps(y: Tensor, centres: Tensor, stretches: Tensor) -> tuple[Tensor, Tensor]:
    """What the layers made y of, and the log of their area factor there."""
    total = torch.zeros_like(y[..., 0])
    pairs = list(zip(centres.unbind(-2), stretches.unbind(-2), strict=True))
    for w, v in reversed(pairs):
        middle = inverse_stretch(y, v)
        before, _ = moebius(middle, -w)
        y = before / torch.linalg.vector_norm(before, dim=-1, keepdim=True)
        total = total + moebius(y, w)[1] + stretch(middle, v)[1]
    return y, total
