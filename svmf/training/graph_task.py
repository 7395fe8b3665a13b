# SPDX-License-Identifier: MIT
"""Link prediction with N-VGAE and S-VGAE: an epoch sees each training edge once, in one step or in
batches, with as many absent edges sampled anew. Every step encodes the whole graph. The epoch of
the best validation AUC is reported, as in the paper."""

from typing import Any

import torch
from torch import Tensor

from svmf.data import load_graph_named, sample_absent_edges, split_edges
from svmf.data.graph import edge_keys
from svmf.errors import ConfigError
from svmf.models import GraphVAE
from svmf.training.checked import Part
from svmf.training.config import RunConfig
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, derived_seed, generator, restore_generator
from svmf.training.rows import EpochOrder
from svmf.training.task import Task, make_latent


class GraphTask(Task):
    terms = GraphVAE.terms
    capturable = False  # sparse matrices, and Python's share of a step over a whole graph is small
    score = "auc"

    def __init__(self, config: RunConfig, processes: Processes) -> None:
        super().__init__(config, processes)
        if processes.count > 1:
            raise ConfigError(
                f"model {config.model!r} trains in one process: each step takes the whole graph"
            )
        self.graph = load_graph_named(config.data, config.data_root)
        split_seed = config.seed if config.split_seed is None else config.split_seed
        self.split = split_edges(self.graph, derived_seed(Purpose.SPLIT, split_seed))
        self.model: GraphVAE = GraphVAE(
            self.graph.features,
            self.split.train,
            make_latent(config),
            hidden=(config.hidden or (32,))[0],
            dropout=config.dropout,
            kl_weight=config.kl_weight,
            multiplier=config.multiplier,
        ).to(self.device)
        self._train = self.split.train.to(self.device)
        self._keys = edge_keys(self.split.train, self.graph.nodes).sort().values
        self._draw = generator(Purpose.DATA, config.seed)
        self._order: EpochOrder | None = None
        if config.batch_size:
            edges = self._train.shape[1]
            self._order = EpochOrder(edges, config.batch_size, config.seed, processes)

    @property
    def steps(self) -> int:
        return self._order.steps if self._order else 1

    def begin_epoch(self, epoch: int) -> None:
        if self._order:
            self._order.begin_epoch(epoch)

    def batch(self, step: int) -> tuple[Tensor, ...]:
        present = self._train
        if self._order:
            present = present.index_select(1, self._order.batch(step).to(self.device))
        count = present.shape[1]
        absent = sample_absent_edges(self._keys, self.graph.nodes, count, self._draw)
        return present, absent.to(self.device)

    def figures(self, terms: dict[str, float]) -> dict[str, float]:
        re, kl = terms["re"], terms["kl"]
        elbo = re - self.model.kl_weight * kl
        return {"elbo": elbo, "re": re, "kl": kl, self.model.latent.spread_name: terms["spread"]}

    def validate(self, epoch: int) -> dict[str, float]:
        return self._auc_ap(self.split.validation, self.split.validation_absent)

    def evaluate(self, **_: Any) -> dict[str, Any]:
        """Area under the ROC curve and average precision on the test edges."""
        return dict(self._auc_ap(self.split.test, self.split.test_absent))

    def random_state(self) -> Any:
        return self._draw.get_state()

    def restore_random_state(self, state: Part) -> None:
        restore_generator(self._draw, state)

    def _auc_ap(self, present: Tensor, absent: Tensor) -> dict[str, float]:
        from sklearn.metrics import (  # type: ignore[import-untyped]
            average_precision_score,
            roc_auc_score,
        )

        edges = torch.cat([present, absent], dim=1).to(self.device)
        scores = self.model.score(edges).cpu().double().numpy()
        truth = (torch.arange(edges.shape[1]) < present.shape[1]).int().numpy()
        return {
            "auc": float(roc_auc_score(truth, scores)),
            "ap": float(average_precision_score(truth, scores)),
        }
