# SPDX-License-Identifier: MIT
"""Link prediction in batches of links: an epoch sees every training edge once."""

import torch

from svmf.data.graph import edge_keys
from svmf.training import make_config
from svmf.training.graph_task import GraphTask
from svmf.training.processes import Processes


def task_of(options, **more):
    config = make_config("svgae", **options("svgae", **more))
    return GraphTask(config, Processes("cpu"))


def test_an_epoch_sees_every_training_edge_once(options):
    task = task_of(options, batch_size=7)
    edges = task.split.train
    assert task.steps == -(-edges.shape[1] // 7)
    orders = []
    for epoch in (1, 2):
        task.begin_epoch(epoch)
        batches = [task.batch(step) for step in range(task.steps)]
        assert all(present.shape == absent.shape for present, absent in batches)
        seen = torch.cat([present for present, _ in batches], dim=1)
        absent = torch.cat([absent for _, absent in batches], dim=1)
        keys = edge_keys(edges, task.graph.nodes)
        assert torch.equal(edge_keys(seen, task.graph.nodes).sort().values, keys.sort().values)
        assert not torch.isin(edge_keys(absent, task.graph.nodes), keys).any()
        orders.append(seen)
    assert not torch.equal(*orders)


def test_without_a_batch_size_a_step_takes_all_edges(options):
    task = task_of(options, batch_size=0)
    assert task.steps == 1
    assert torch.equal(task.batch(0)[0], task.split.train)
