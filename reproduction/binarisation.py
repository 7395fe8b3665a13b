# SPDX-License-Identifier: MIT
"""How much a test figure depends on the binarisation of the test images: the ELBO of one trained
model over several binarisations.

    python -m reproduction.binarisation runs/reproduce/mnist/svae-d5-seed0/run
"""

import statistics

import torch

from svmf.cli import Parser
from svmf.training.randomness import Purpose, noise_from
from svmf.training.rows import BinarizedRows
from svmf.training.run import finished_task
from svmf.training.run_folder import RunFolder
from svmf.training.vae_task import EVALUATION_ROWS, VAETask

# Standard deviations in nats that this script gave for the test ELBO and for RE, over 12
# binarisations: N-VAE and S-VAE with d = 2, and the S-VAE with d = 5. KL: below 0.002.
SPREAD_OF_ELBO = {2: 0.13, 5: 0.06}


def spread_of_elbo(dim: int) -> float:
    """Of the largest dimension measured for those that were not."""
    return SPREAD_OF_ELBO[max(known for known in SPREAD_OF_ELBO if known <= max(dim, 2))]


@torch.no_grad()
def main() -> None:
    parser = Parser(description=__doc__)
    parser.add_argument("run", help="the folder of a training run")
    parser.add_argument("--draws", type=int, default=12, help="binarisations (12)")
    arguments = parser.parse_args()
    folder = RunFolder(arguments.run)
    found = []
    with finished_task(folder, folder.read_config()) as (task, _):
        if not isinstance(task, VAETask) or task.images is None:
            raise SystemExit(f"{arguments.run}: expected a VAE on images")
        for draw in range(1, arguments.draws + 1):
            rows = BinarizedRows(task.images.test.images, task.device, Purpose.TEST, draw)
            with noise_from(task.device, Purpose.TEST, draw):
                terms = [task.model.elbo_terms(x) for x in rows.chunks(EVALUATION_ROWS)]
            means = torch.cat(terms, 1).double().mean(1).tolist()
            found.append(task.figures(dict(zip(task.model.terms, means, strict=True))))
    for name in ("elbo", "re", "kl"):
        values = [figures[name] for figures in found]
        print(f"{name}: {statistics.fmean(values):.3f} ± {statistics.stdev(values):.4f}")


if __name__ == "__main__":
    main()
