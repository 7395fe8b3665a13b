# SPDX-License-Identifier: MIT
"""Odd moments: a fork while other threads build tables, and two runs that start in one folder."""

import json
import shutil
import tempfile
import threading
import time
from pathlib import Path

import torch
from fuzz.checkpoint_files import honest_run
from fuzz.checks import Finding, require
from fuzz.children import Child
from fuzz.values import Chance
from reliability.tiny_run import tiny_config

import svmf.functional as F
from svmf.training import continue_run, start_run

FORKS = 4
HANG_SECONDS = 30.0


def _gradient(dim: int) -> str:
    """A backward pass at this dimension, which builds a table if the process has none for it."""
    loc = torch.nn.functional.normalize(torch.ones(4, dim), dim=-1)
    kappa = torch.full((4,), 10.0, requires_grad=True)
    z = F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(1))
    z[:, 0].sum().backward()
    require(kappa.grad is not None and bool(kappa.grad.isfinite().all()), f"gradient at m = {dim}")
    return "done"


def random_fork(chance: Chance) -> str:
    """Children are forked while threads are in a backward pass at dimensions that are new."""
    first = chance.random.randrange(2, 3000)
    stop, failures = threading.Event(), []

    def work(dim: int) -> None:
        while not stop.is_set():
            try:
                _gradient(dim)
            except Finding as finding:
                failures.append(str(finding))
            dim = 2 + (dim + 7) % 5000

    torch.set_num_threads(1)
    threads = [threading.Thread(target=work, args=(first + 100 * n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(FORKS):
            time.sleep(chance.random.uniform(0, 0.005))
            dim = chance.random.randrange(2, 5000)
            Child(lambda dim=dim: _gradient(dim)).result(HANG_SECONDS)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    require(not failures, "; ".join(failures[:1]))
    return f"fork.survived from m={first}"


def random_concurrent_runs(chance: Chance) -> str:
    """Two or three processes train in one folder at once; or continue the same run."""
    fresh, count = chance.one_in(2), chance.pick((2, 2, 3))
    with tempfile.TemporaryDirectory() as folder:
        run, images = Path(folder) / "run", honest_run().parent / "images"
        if not fresh:
            shutil.copytree(honest_run(), run)

        def train(number: int) -> str:
            time.sleep(pauses[number])
            if fresh:
                import dataclasses

                start_run(dataclasses.replace(tiny_config(images, 2), seed=number), run)
            else:
                continue_run(run, {"epochs": 2 + number})
            return "trained"

        pauses = [chance.pick((0.0, 0.0, 0.002, 0.02, 0.1)) for _ in range(count)]
        children = [Child(lambda number=number: train(number)) for number in range(count)]
        outcomes = [child.result() for child in children]
        winners = [number for number, text in enumerate(outcomes) if text == "trained"]
        require(bool(winners), f"no run trained: {outcomes}")
        require(not fresh or len(winners) == 1, f"{len(winners)} runs trained in one folder")
        require_whole(run, winners[0] if fresh else 0)
    return f"runs.{'started' if fresh else 'continued'} {len(winners)} of {count}"


def require_whole(run: Path, seed: int) -> None:
    """The folder is that of one run."""
    config = json.loads((run / "config.json").read_text())
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    require(config["seed"] == seed, f"config.json is that of seed {config['seed']}, not {seed}")
    require(state["config"]["seed"] == seed, "the checkpoint is that of another run")
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    epochs = [record["epoch"] for record in records]
    require(epochs == list(range(1, len(epochs) + 1)), f"metrics of epochs {epochs}")
    left = [path.name for path in run.iterdir() if path.name.endswith(".tmp")]
    require(not left, f"left behind: {left}")
