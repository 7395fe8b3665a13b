# SPDX-License-Identifier: MIT
"""k-nearest-neighbour classification on latent means: the classifier of the M1 model."""

from collections.abc import Callable

import torch
from torch import Tensor

_BLOCK = 2048  # query rows at a time


def geodesic_distances(rows: Tensor, others: Tensor) -> Tensor:
    """Angles between unit rows, [rows, others]."""
    return torch.arccos((rows @ others.t()).clamp(-1, 1))


DISTANCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "euclidean": torch.cdist,
    "geodesic": geodesic_distances,
}


def nearest_labels(
    reference: Tensor,
    labels: Tensor,
    queries: Tensor,
    k: int = 5,
    distance: str | Callable[[Tensor, Tensor], Tensor] = "euclidean",
) -> Tensor:
    """The most frequent label among the k nearest reference rows; the smallest label wins a tie.

    `distance` is "euclidean", or "geodesic": arccos(x.y) between unit rows; or a function from rows
    and rows to the matrix of their distances, such as `latent.distances`.
    """
    if not callable(distance) and distance not in DISTANCES:
        raise ValueError(
            f'nearest_labels: expected `distance` "euclidean" or "geodesic", got {distance!r}'
        )
    between = distance if callable(distance) else DISTANCES[distance]
    if not 1 <= k <= len(reference):
        raise ValueError(f"nearest_labels: expected 1 <= `k` <= {len(reference)}, got {k}")
    classes = int(labels.max()) + 1
    found = []
    for rows in queries.split(_BLOCK):
        apart = between(rows, reference)
        nearest = labels[apart.topk(k, largest=False).indices]
        votes = torch.nn.functional.one_hot(nearest, classes).sum(1)
        found.append(votes.argmax(1))
    return torch.cat(found)


def balanced_subset(labels: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Indices of `count` rows with equally many of each class (Kingma et al. 2014)."""
    classes = int(labels.max()) + 1
    if count < classes or count % classes:
        raise ValueError(
            f"balanced_subset: expected `count` a multiple of {classes} classes, got {count}"
        )
    chosen = []
    for label in range(classes):
        members = (labels == label).nonzero().squeeze(-1)
        if len(members) < count // classes:
            raise ValueError(
                f"balanced_subset: class {label} has {len(members)} rows, "
                f"fewer than {count // classes}"
            )
        order = torch.randperm(len(members), generator=generator)
        chosen.append(members[order[: count // classes]])
    return torch.cat(chosen)
