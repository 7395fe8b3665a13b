# SPDX-License-Identifier: MIT
"""Auto-encoder, N-VAE and S-VAE on images or on the circle; M1's k-NN among the final figures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from svmf.data import ImageSet, ImageSplit, load_images_named, make_circle
from svmf.data.arrays import is_array_path, load_array_set, make_array_set
from svmf.errors import ConfigError, DataError
from svmf.models import (
    VAE,
    Bernoulli,
    balanced_subset,
    exact_log_likelihood_2d,
    log_likelihood,
    nearest_labels,
    released_log_likelihood,
)
from svmf.training.checked import Part
from svmf.training.config import RunConfig
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, generator, noise_from
from svmf.training.rows import BinarizedRows, EpochOrder, PlainRows, Rows
from svmf.training.task import Task
from svmf.training.vae_model import build_vae

EVALUATION_ROWS = 500  # at a time: the activations stay in the cache
TEST_SEED = 0  # one binarisation of the test images for every run
LABEL_COUNTS = (100, 600, 1000)
CIRCLE_SPLIT = (2000, 500, 500)  # train, validation, test
CIRCLE_POINTS = sum(CIRCLE_SPLIT)


class VAETask(Task):
    terms = VAE.terms
    score = "elbo"

    def __init__(
        self, config: RunConfig, processes: Processes, values: Any = None, model: VAE | None = None
    ) -> None:
        """`values` are rows of one's own instead of named data, `model` a model of one's own."""
        super().__init__(config, processes)
        self.images: ImageSet | None = None
        self.train: Rows
        self.row_shape: tuple[int, ...]
        if config.data == "circle" and values is None:
            points = make_circle(CIRCLE_POINTS, config.seed).points
            self._take_plain(points.split(CIRCLE_SPLIT), "gaussian 1")
        elif values is not None or is_array_path(config.data):
            self._take_arrays(values)
        else:
            images = load_images_named(config.data, config.data_root, config.validation_rows)
            self._take_images(images, (images.pixels,))
        batch = batch_of(config, len(self.train), processes)
        self._order = EpochOrder(len(self.train), batch, config.seed, processes)
        if model is None:
            model = build_vae(config, self.row_shape, self.likelihood)
        else:
            model.row_shape = self.row_shape
        self.model: VAE = model.to(self.device)

    def about(self) -> dict[str, Any]:
        return {"shape": list(self.row_shape), "likelihood": self.likelihood}

    def _take_arrays(self, values: Any) -> None:
        asked, config = self.config.likelihood, self.config
        make = load_array_set if values is None else make_array_set
        arrays = make(
            config.data if values is None else values,
            kind={"gaussian": "real", "vmf": "unit"}.get(asked),
            validation_rows=config.validation_rows,
        )
        if asked == "bernoulli" and arrays.kind not in ("grey", "binary"):
            raise DataError(
                f"--likelihood bernoulli: expected values in [0, 1], {arrays.name} has others"
            )
        if arrays.kind == "grey":
            splits = [
                ImageSplit(part, torch.full((len(part),), -1))
                for part in (arrays.train, arrays.validation, arrays.test)
            ]
            width = arrays.train.shape[1]
            self._take_images(ImageSet(arrays.name, 1, width, *splits), arrays.shape)
        else:
            name = {"binary": "bernoulli", "unit": "vmf", "real": "gaussian"}[arrays.kind]
            self._take_plain((arrays.train, arrays.validation, arrays.test), name, arrays.shape)

    def _take_plain(
        self, parts: Sequence[Tensor], likelihood: str, shape: tuple[int, ...] | None = None
    ) -> None:
        train, self._validation, self._test = parts
        self.train = PlainRows(train, self.device)
        self.row_shape = tuple(train.shape[1:]) if shape is None else shape
        self.likelihood = likelihood

    def _take_images(self, images: ImageSet, shape: tuple[int, ...]) -> None:
        self.images = images
        seeds = (self.config.seed, self.processes.rank)
        self.train = BinarizedRows(images.train.images, self.device, Purpose.DATA, *seeds)
        self.row_shape = shape
        self.likelihood = "bernoulli"

    @property
    def steps(self) -> int:
        return self._order.steps

    def begin_epoch(self, epoch: int) -> None:
        self._order.begin_epoch(epoch)

    def batch(self, step: int) -> tuple[Tensor, ...]:
        return (self.train.batch(self._order.batch(step)),)

    def figures(self, terms: dict[str, float]) -> dict[str, float]:
        re, kl = terms["re"], terms["kl"]
        return {"elbo": re - kl, "re": re, "kl": kl, self.model.latent.spread_name: terms["spread"]}

    def validate(self, epoch: int) -> dict[str, float]:
        rows = self._held_out("validation", self.config.seed, epoch, self.processes.rank)
        with noise_from(
            self.device, Purpose.VALIDATION, self.config.seed, epoch, self.processes.rank
        ):
            return self._elbo(rows, self.processes.rank, self.processes.count)

    def evaluate(
        self, samples: int = 500, limit: int | None = None, label_draws: int = 20, **_: Any
    ) -> dict[str, Any]:
        """ELBO and its parts, the importance-sampled log-likelihood, and 5-NN accuracies from 100,
        600 and 1000 labels. `limit` uses only the first test rows for the likelihood."""
        rows = self._held_out("test", TEST_SEED)
        x = torch.cat([chunk.clone() for chunk in rows.chunks(EVALUATION_ROWS)])
        result: dict[str, Any] = {}
        with noise_from(self.device, Purpose.TEST, TEST_SEED):
            result |= self._elbo(PlainRows(x, self.device), 0, 1)
            if self.model.latent.has_density and samples:
                part = x[:limit]
                result["ll"] = float(log_likelihood(self.model, part, samples).mean())
                result["ll_samples"], result["ll_rows"] = samples, len(part)
                if self.model.latent.dim == 2 and isinstance(self.model.likelihood, Bernoulli):
                    result["ll_exact"] = float(exact_log_likelihood_2d(self.model, part).mean())
        # A stream of its own: what is drawn above keeps its numbers.
        with noise_from(self.device, Purpose.RELEASED, TEST_SEED):
            if "ll" in result:
                released = released_log_likelihood(self.model, part, samples)
                result["ll_released"] = float(released.mean())
        if self.images is not None and int(self.images.train.labels.min()) >= 0:
            result |= self._knn(self.images, x, label_draws)
        return result

    def random_state(self) -> Any:
        return self.train.state()

    def restore_random_state(self, state: Part) -> None:
        self.train.restore(state)

    def _held_out(self, part: str, *entropy: int) -> Rows:
        if self.images is None:
            return PlainRows(getattr(self, f"_{part}"), self.device)
        split: ImageSplit = getattr(self.images, part)
        purpose = Purpose.TEST if part == "test" else Purpose.VALIDATION
        return BinarizedRows(split.images, self.device, purpose, *entropy)

    def _elbo(self, rows: Rows, start: int, stride: int) -> dict[str, float]:
        sums, count = torch.zeros(3, dtype=torch.float64, device=self.device), 0
        for x in rows.chunks(EVALUATION_ROWS, start, stride):
            terms = self.model.elbo_terms(x)
            sums += terms.sum(1)
            count += terms.shape[1]
        means = self.mean_over_rows(sums, count) if stride > 1 else (sums / count).tolist()
        return self.figures(dict(zip(self.model.terms, means, strict=True)))

    @torch.no_grad()
    def latent_means(self, images: Tensor, *entropy: int) -> Tensor:
        """Posterior means of binarised images, [rows, coordinates]."""
        rows = BinarizedRows(images, self.device, Purpose.NEIGHBOURS, *entropy)
        return self._codes(rows.chunks(EVALUATION_ROWS), self.model.latent.mean)[0]

    def _codes(self, chunks: Iterable[Tensor], *points: Callable[[Any], Tensor]) -> list[Tensor]:
        """For each of `points` what it makes of the posteriors of all rows."""
        posteriors = map(self.model.posterior, chunks)
        parts = [[point(posterior) for point in points] for posterior in posteriors]
        return [torch.cat(column) for column in zip(*parts, strict=True)]

    @torch.no_grad()
    def _knn(self, images: ImageSet, x: Tensor, draws: int) -> dict[str, dict[str, list[float]]]:
        """5-NN accuracies by the number of labels, from three representations of an image: `knn`,
        the posterior mean of the binarised image; `knn_grey`, that of the grey image; `knn_sample`,
        one draw from the posterior of the binarised image. `x` are the binarised test images."""
        latent = self.model.latent
        train = images.train.images
        binary = BinarizedRows(train, self.device, Purpose.NEIGHBOURS, TEST_SEED)

        def sample(posterior: Any) -> Tensor:
            return latent.sample(posterior, 1)[0]

        def grey(rows: Tensor) -> Iterator[Tensor]:
            return (part.to(self.device).float() / 255 for part in rows.split(EVALUATION_ROWS))

        with noise_from(self.device, Purpose.NEIGHBOURS, TEST_SEED):
            means, samples = zip(
                self._codes(binary.chunks(EVALUATION_ROWS), latent.mean, sample),
                self._codes(x.split(EVALUATION_ROWS), latent.mean, sample),
                strict=True,
            )
        greys = [self._codes(grey(rows), latent.mean)[0] for rows in (train, images.test.images)]
        points = {"knn": means, "knn_grey": greys, "knn_sample": samples}
        return {
            name: self._accuracies(images, train, test, draws)
            for name, (train, test) in points.items()
        }

    def _accuracies(
        self, images: ImageSet, train: Tensor, test: Tensor, draws: int
    ) -> dict[str, list[float]]:
        smallest_class = int(torch.bincount(images.train.labels).min())
        labels = images.train.labels.to(self.device)
        accuracies: dict[str, list[float]] = {}
        for count in LABEL_COUNTS:
            if count % images.classes or count // images.classes > smallest_class:
                continue
            accuracies[str(count)] = []
            for draw in range(draws):
                chooser = generator(Purpose.LABELS, TEST_SEED, count, draw)
                chosen = balanced_subset(images.train.labels, count, chooser).to(self.device)
                found = nearest_labels(
                    train[chosen], labels[chosen], test, distance=self.model.latent.distances
                )
                right = found == images.test.labels.to(self.device)
                accuracies[str(count)].append(float(right.double().mean()))
        return accuracies


def batch_of(config: RunConfig, rows: int, processes: Processes) -> int:
    """Rows per step. The default gives way to a small set; a number that was asked for does not."""
    batch = config.batch_size
    if batch == config.spec.defaults["batch_size"] and rows >= processes.count:
        batch = min(batch, rows - rows % processes.count)
    if batch > rows:
        raise ConfigError(f"--batch-size: expected at most the {rows} training rows, got {batch}")
    if batch % processes.count:
        raise ConfigError(
            f"--batch-size: expected a multiple of the {processes.count} processes, got {batch}"
        )
    return batch
