# SPDX-License-Identifier: MIT
"""k-nearest-neighbour classification on latent means: the classifier of the M1 model."""

import torch
from torch import Tensor

_BLOCK = 2048  # query rows at a time


def nearest_labels(
    reference: Tensor, labels: Tensor, queries: Tensor, k: int = 5, distance: str = "euclidean"
) -> Tensor:
    """The most frequent label among the k nearest reference rows; the smallest label wins a tie.

    `distance` is "euclidean", or "geodesic": arccos(x.y) between unit rows.
    """
    if distance not in ("euclidean", "geodesic"):
        raise ValueError(
            f'nearest_labels: expected `distance` "euclidean" or "geodesic", got {distance!r}'
        )
    if not 1 <= k <= len(reference):
        raise ValueError(f"nearest_labels: expected 1 <= `k` <= {len(reference)}, got {k}")
    classes = int(labels.max()) + 1
    found = []
    for rows in queries.split(_BLOCK):
        if distance == "geodesic":
            apart = torch.arccos((rows @ reference.t()).clamp(-1, 1))
        else:
            apart = torch.cdist(rows, reference)
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
