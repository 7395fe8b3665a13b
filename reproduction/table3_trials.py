# SPDX-License-Identifier: MIT
"""Why S+S of table 3 does not learn the digits: short runs on MNIST that change one thing each.

    python -m reproduction.table3_trials --compile                # all; what has a result is left
    python -m reproduction.table3_trials --compile ss-dropout     # one of them

Every run takes 12 epochs and looks at validation images alone. docs/m1m2.md is about them.
"""

import argparse
import dataclasses
import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reproduction.markdown import markdown_table
from reproduction.record import InterruptedRunError, Job, Workspace, read_results, run_jobs
from reproduction.table3 import PAIRINGS
from svmf.cli import Parser, guarded
from svmf.errors import ConfigError
from svmf.models.networks import mlp
from svmf.models.semi_supervised import SemiSupervisedVAE
from svmf.training import RunConfig, RunFolder, make_config
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, generator, noise_from
from svmf.training.rows import BinarizedRows
from svmf.training.run import seeded, train_in
from svmf.training.semi_supervised_task import SemiSupervisedTask
from svmf.training.task import Task

EXPERIMENT = "m1m2-trials"
EPOCHS = 12
_STYLE_ROWS = 1000  # validation images on which KL(z2) is taken


@dataclass(frozen=True)
class Trial:
    """One run, by what differs from the pairing of table 3 with spheres seen at radius sqrt(m)."""

    about: str
    model: str = "m1m2-ss"
    dim: int = 10
    dim2: int = 10
    seed: int = 0
    alpha: float = 1.0
    all_labels: int = 0  # first epochs in which every label is known
    dropout: float = 0.0  # in the classifier's hidden layer
    from_image: bool = False  # q(y|x) instead of q(y|z1)
    draws: int = 1  # of z1 for each image
    entropy: float = 1.0  # weight of the label's entropy in the first epochs
    entropy_epochs: int = 0


TRIALS = {
    "ss": Trial("as it is"),
    "sn": Trial("as it is", "m1m2-sn"),
    "nn": Trial("as it is", "m1m2-nn"),
    "ss-z2-2": Trial("z2 on S^2", dim2=2),
    "ss-z2-5": Trial("z2 on S^5", dim2=5),
    "ss-all-labels": Trial("all labels known for 5 epochs, then 100", all_labels=5),
    "sn-all-labels": Trial("all labels known for 5 epochs, then 100", "m1m2-sn", all_labels=5),
    "ss-from-image": Trial("q(y given x) in place of q(y given z1)", from_image=True),
    "ss-dropout": Trial("dropout of one half in the classifier", dropout=0.5),
    "ss-alpha": Trial("alpha 0.1, as Kingma et al. have it", alpha=0.1),
    "ss-entropy": Trial("label entropy times 3 for 5 epochs", entropy=3.0, entropy_epochs=5),
    "ss-draws": Trial("two draws of z1 for each image", draws=2),
    "ss-5": Trial("as it is", dim=5, dim2=5),
    "sn-5": Trial("as it is", "m1m2-sn", dim=5, dim2=5),
    "nn-5": Trial("as it is", "m1m2-nn", dim=5, dim2=5),
    "ss-seed1": Trial("as it is", seed=1),
    "nn-seed1": Trial("as it is", "m1m2-nn", seed=1),
    "sn-z2-2": Trial("z2 in R^2", "m1m2-sn", dim2=2),
}


class _FromImage(nn.Module):
    """A classifier of the images that `encoder` was last given, in place of their codes."""

    def __init__(self, encoder: nn.Module, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.network = mlp([inputs, hidden], classes)
        encoder.register_forward_pre_hook(self._remember)

    def _remember(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        (self.images,) = inputs

    def forward(self, _: Tensor) -> Tensor:
        return self.network(self.images)


class TrialTask(SemiSupervisedTask):
    """Training as `svmf train` has it, but for what the trial changes."""

    def __init__(self, config: RunConfig, processes: Processes, trial: Trial) -> None:
        super().__init__(config, processes)
        self.trial = trial
        train = self.images.train
        # rows of its own: a batch lasts until the next one is asked for
        self._every_row = BinarizedRows(train.images, self.device, Purpose.DATA, config.seed, 0, 2)
        self._every_label = train.labels.to(self.device)
        self._epoch = 0
        model, hidden = self.model, (config.hidden or (500,))[0]
        if trial.from_image:
            network = _FromImage(model.encoder1, self.images.pixels, hidden, model.classes)
            model.classifier = network  # type: ignore[assignment]
        if trial.dropout:
            model.classifier.insert(2, nn.Dropout(trial.dropout))
        if trial.entropy != 1:
            plain = model._sum_over_labels

            def weighted(z1: Tensor, log_q: Tensor) -> Tensor:
                more = self._entropy_weight - 1 if model.training else 0.0
                return plain(z1, log_q) - more * (log_q.exp() * log_q).sum(-1)

            model._sum_over_labels = weighted  # type: ignore[method-assign]

    @property
    def _entropy_weight(self) -> float:
        return self.trial.entropy if self._epoch <= self.trial.entropy_epochs else 1.0

    def begin_epoch(self, epoch: int) -> None:
        super().begin_epoch(epoch)
        self._epoch = epoch
        draw = generator(Purpose.ORDER, self.config.seed, epoch, 1)
        self._known_order = torch.randperm(len(self._every_row), generator=draw)

    @property
    def variant(self) -> Hashable:
        return super().variant, self._entropy_weight

    def batch(self, step: int) -> tuple[Tensor, ...]:
        unlabelled, labelled, labels = super().batch(step)
        if self._epoch <= self.trial.all_labels:
            size = len(labels)
            index = self._known_order.roll(-step * size)[:size]
            labelled, labels = self._every_row.batch(index), self._every_label[index]
        repeat = self.trial.draws
        return unlabelled.repeat(repeat, 1), labelled.repeat(repeat, 1), labels.repeat(repeat)

    def validate(self, epoch: int) -> dict[str, float]:
        figures = super().validate(epoch)
        images = self.images.validation.images[:_STYLE_ROWS]
        with noise_from(self.device, Purpose.VALIDATION, self.config.seed, epoch, 1):
            return figures | {"kl_z2": style_kl(self.model, (images / 255).bernoulli())}

    def random_state(self) -> Any:
        return [super().random_state(), self._every_row.state()]

    def restore_random_state(self, state: Any) -> None:
        own, every = state.items(2)
        super().restore_random_state(own)
        self._every_row.restore(every)


@torch.no_grad()
def style_kl(model: SemiSupervisedVAE, x: Tensor) -> float:
    """The mean KL(q(z2|z1,y) || p(z2)), over q(y|z1)."""
    z1 = model.latent1.draw(model.latent1.posterior(model.encoder1(x))).z
    seen = model.radius1(z1)
    q = F.softmax(model.classifier(seen), dim=-1)
    kl = model.latent2.draw(model.latent2.posterior(model.encoder2.all_labels(seen))).kl
    return float((q * kl).sum(-1).mean())


def job(name: str, workspace: Workspace) -> Job:
    trial = TRIALS[name]
    common: dict[str, Any] = {
        "dim": trial.dim, "dim2": trial.dim2, "seed": trial.seed, "alpha": trial.alpha,
        "labelled_batch": 20, "look_ahead": 0, "threads": workspace.threads,
        "radius": "1" if trial.model == "m1m2-nn" else "sqrt", "compile": workspace.compile,
    }  # fmt: skip
    if workspace.quick:
        config = make_config(trial.model, data="digits", epochs=2, hidden=(16,), **common)
    else:
        config = make_config(trial.model, data="mnist", epochs=EPOCHS, **common)

    def make(config: RunConfig, processes: Processes) -> Task:
        return seeded(config, lambda: TrialTask(config, processes, trial))

    def work(folder: Path) -> dict[str, Any]:
        run = RunFolder(folder)
        outcome = train_in(run, config, fresh=not run.exists(), make=make)
        if not outcome.finished:
            raise InterruptedRunError(f"{name}: stopped; the same command continues it")
        return {
            "command": f"python -m reproduction.table3_trials --compile {name}",
            "trial": dataclasses.asdict(trial),
            "config": dataclasses.asdict(config),
            "training_seconds": round(run.training_seconds(), 3),
            "epochs": [
                {key: round(value, 4) for key, value in epoch["validation"].items()}
                for epoch in run.read_metrics()
            ],
        }

    return Job(EXPERIMENT, name, work)


def table(workspace: Workspace) -> str:
    """Every trial that has a result, in the order of `TRIALS`."""
    found = {result["key"]: result for result in read_results(workspace, EXPERIMENT)}
    rows = []
    for name in TRIALS:
        if name not in found:
            continue
        trial, epochs = found[name]["trial"], found[name]["epochs"]
        last = epochs[-1]
        rows.append(
            [
                f"`{name}`",
                PAIRINGS[trial["model"]] + f" ({trial['dim']}, {trial['dim2']})",
                trial["about"] + (f", seed {trial['seed']}" if trial["seed"] else ""),
                *(f"{100 * epochs[at]['accuracy']:.1f}" for at in (min(5, len(epochs)) - 1, -1)),
                f"{last['elbo']:.1f}",
                f"{last['kl_z2']:.2f}",
            ]
        )
    head = ["name", "pairing", "change", "after 5", "after 12", "bound", "KL(z2)"]
    return markdown_table(head, rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m reproduction.table3_trials", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of " + ", ".join(TRIALS))
    parser.add_argument("--compile", action="store_true", help="compile the steps")
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it works")
    args = parser.parse_args(argv)
    return guarded(parser.prog, lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    unknown = set(args.names) - set(TRIALS)
    if unknown:
        raise ConfigError(f"expected names among {', '.join(TRIALS)}, got {min(unknown)}")
    suffix = "-quick" if args.quick else ""
    workspace = Workspace(
        Path(f"results{suffix}"), Path(f"runs/reproduce{suffix}"), args.quick, 1, args.compile,
        say=lambda text: print(text, flush=True),
    )  # fmt: skip
    return 0 if run_jobs([job(n, workspace) for n in args.names or TRIALS], workspace) else 1


if __name__ == "__main__":
    sys.exit(main())
