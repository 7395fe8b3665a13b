# SPDX-License-Identifier: MIT
"""Clustering beside scikit-learn: agreement with labels, and the cost of an iteration.

    python benchmarks/clustering.py DATA_DIR            # normalised mutual information
    python benchmarks/clustering.py --iteration         # milliseconds, 30,000 x 384, k = 50

DATA_DIR holds `mnist/` (idx files) and `planetoid_npz/`. Times are CPU time of one thread, so that
a busy machine tells the same; with `--threads` more than one, wall time. The rows of the second are
nearly uniform, so that no fit ends early.
"""

import argparse
import gzip
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import scipy.sparse
import torch
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics import normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from svmf.distributions import VonMisesFisher
from svmf.mixture import SphericalKMeans, VonMisesFisherMixture

Make = Callable[[int, int], Any]
ESTIMATORS: dict[str, Make] = {
    "VonMisesFisherMixture": lambda k, s: VonMisesFisherMixture(k, random_state=s, n_init=3),
    "the same, concentration shared": lambda k, s: VonMisesFisherMixture(
        k, random_state=s, n_init=3, concentration="shared"
    ),
    "SphericalKMeans": lambda k, s: SphericalKMeans(k, random_state=s, n_init=3),
    "KMeans": lambda k, s: KMeans(k, random_state=s, n_init=3),
    "GaussianMixture (diagonal)": lambda k, s: GaussianMixture(
        k, covariance_type="diag", random_state=s, n_init=3, reg_covar=1e-5
    ),
}


TIMED: dict[str, Callable[[int, torch.Tensor, int], Any]] = {
    "soft": lambda k, init, steps: VonMisesFisherMixture(k, init=init, tol=0, max_iter=steps),
    "hard": lambda k, init, steps: VonMisesFisherMixture(
        k, init=init, tol=0, max_iter=steps, assignment="hard"
    ),
    "SphericalKMeans": lambda k, init, steps: SphericalKMeans(k, init=init, tol=0, max_iter=steps),
    "KMeans": lambda k, init, steps: KMeans(k, init=init.numpy(), n_init=1, tol=0, max_iter=steps),
}


def mnist(folder: Path) -> tuple[Any, numpy.ndarray]:
    """The test images: 50 principal components, normalised."""
    with gzip.open(folder / "mnist" / "t10k-images-idx3-ubyte.gz") as file:
        pixels = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "mnist" / "t10k-labels-idx1-ubyte.gz") as file:
        label = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
    parts = PCA(50, random_state=0).fit_transform(pixels.astype(numpy.float32) / 255)
    return normalize(parts).astype(numpy.float32), label


def papers(folder: Path, name: str) -> tuple[Any, numpy.ndarray]:
    """The words of papers, normalised and sparse; papers without words are left out."""
    with numpy.load(folder / "planetoid_npz" / f"{name}.npz", allow_pickle=False) as file:
        parts = (file["feat_data"], file["feat_indices"], file["feat_indptr"])
        words = scipy.sparse.csr_matrix(parts, file["feat_shape"]).astype(numpy.float32)
        label = file["labels"]
    kept = numpy.asarray(words.sum(1)).ravel() > 0
    return normalize(words[kept]), label[kept]


def agreement(folder: Path) -> None:
    sets = {
        "MNIST": mnist(folder),
        "Cora": papers(folder, "cora"),
        "Pubmed": papers(folder, "pubmed"),
    }
    for name, (rows, label) in sets.items():
        for title, make in ESTIMATORS.items():
            given = rows
            if title.startswith("Gaussian") and scipy.sparse.issparse(rows):
                # it takes no sparse rows
                small = rows.shape[1] < 600
                reduce = TruncatedSVD(100, random_state=0)
                given = rows.toarray() if small else reduce.fit_transform(rows)
            scores, seconds = [], []
            for seed in range(3):
                before = time.process_time()
                found = make(len(numpy.unique(label)), seed).fit_predict(given)
                seconds.append(time.process_time() - before)
                scores.append(normalized_mutual_info_score(label, found))
            low, mean, high = min(scores), numpy.mean(scores), max(scores)
            seconds.sort()
            print(f"{name} | {title} | {mean:.3f} ({low:.3f} to {high:.3f}) | {seconds[1]:.2f} s")


def iteration(rounds: int, threads: int) -> None:
    """By turns, so that a busy minute hits all: the median of the time of an iteration."""
    clock = time.process_time if threads == 1 else time.perf_counter
    n, m, k = 30_000, 384, 50
    generator = torch.Generator().manual_seed(0)
    locs = torch.nn.functional.normalize(torch.randn(k, m, generator=generator), dim=-1)
    start = torch.nn.functional.normalize(torch.randn(k, m, generator=generator), dim=-1)
    for dtype in (torch.float32, torch.float64):
        truth = VonMisesFisher(locs, torch.full((k,), 8.0))
        rows = truth.sample((n // k,), generator=generator).reshape(n, m).to(dtype)
        rows = torch.nn.functional.normalize(rows, dim=-1)
        init = torch.nn.functional.normalize(start.to(dtype), dim=-1)
        makes = {title: partial(make, k, init) for title, make in TIMED.items()}
        times: dict[str, list[float]] = {title: [] for title in makes}
        for _ in range(rounds):
            for title, make in makes.items():
                given = rows.numpy() if title == "KMeans" else rows
                spent = []
                for steps in (2, 17):
                    estimator = make(steps)
                    before = clock()
                    estimator.fit(given)
                    spent.append((clock() - before, estimator.n_iter_))
                (first, short), (second, long) = spent
                times[title].append(1e3 * (second - first) / max(1, long - short))
        for title, each in times.items():
            print(f"{dtype} | {title} | {numpy.median(each):.0f} ms ({min(each):.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder with mnist/ and planetoid_npz/")
    parser.add_argument("--iteration", action="store_true", help="time an iteration instead")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with threadpool_limits(arguments.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that are cut short on purpose
        if arguments.iteration:
            iteration(arguments.rounds, arguments.threads)
        elif arguments.data is not None:
            agreement(arguments.data)
        else:
            parser.error("expected DATA_DIR or --iteration")


if __name__ == "__main__":
    main()
