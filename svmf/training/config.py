# SPDX-License-Identifier: MIT
"""The configuration of a run: one flat record, checked once, kept as readable JSON.

`MODELS` names what `svmf train` can train, with the paper's settings as defaults.
"""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from svmf.errors import ConfigError

# Set by hand here so that the command line can check a name without importing torch.
GRADIENTS = ("pathwise", "corrected", "rejection")


@dataclass(frozen=True)
class ModelSpec:
    """`kind` chooses the task; `latents` name the posterior families, z1 before z2."""

    kind: str  # "vae", "semi-supervised" or "graph"
    latents: tuple[str, ...]
    help: str
    defaults: dict[str, Any]


_VAE = {"data": "digits", "batch_size": 64, "lr": 1e-3, "warm_up": 100, "look_ahead": 50}
_M1M2 = {"data": "digits", "dim": 50, "batch_size": 100, "lr": 1e-3, "look_ahead": 50}
_GRAPH = {"data": "cora", "dim": 32, "epochs": 200, "lr": 0.01, "batch_size": 0}

MODELS = {
    "ae": ModelSpec("vae", ("point",), "auto-encoder", {**_VAE, "warm_up": 0}),
    "nvae": ModelSpec("vae", ("gaussian",), "VAE with a Gaussian latent", _VAE),
    "svae": ModelSpec("vae", ("spherical",), "VAE with a von Mises-Fisher latent", _VAE),
    "psvae": ModelSpec("vae", ("power-spherical",), "VAE with a power spherical latent", _VAE),
    "m1m2-nn": ModelSpec("semi-supervised", ("gaussian", "gaussian"), "M1+M2, N+N", _M1M2),
    "m1m2-ss": ModelSpec("semi-supervised", ("spherical", "spherical"), "M1+M2, S+S", _M1M2),
    "m1m2-sn": ModelSpec("semi-supervised", ("spherical", "gaussian"), "M1+M2, S+N", _M1M2),
    "nvgae": ModelSpec("graph", ("gaussian",), "graph VAE with a Gaussian latent", _GRAPH),
    "svgae": ModelSpec("graph", ("spherical",), "graph VAE with a von Mises-Fisher latent", _GRAPH),
}


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides the outcome of a run, and where it runs."""

    model: str
    data: str = "digits"
    data_root: str | None = None
    validation_rows: int | None = None  # images held out; None: the set's usual share
    dim: int = 10  # the paper's d
    dim2: int | None = None  # of z2 in M1+M2; None: as dim
    gradient: str = "pathwise"
    seed: int = 0
    epochs: int = 1000  # an upper bound when look_ahead stops earlier
    batch_size: int = 64  # over all processes
    lr: float = 1e-3
    beta: float = 1.0  # KL weight after the warm-up
    warm_up: int = 0  # epochs of linear growth of the KL weight
    look_ahead: int = 0  # epochs without a better validation score before stopping; 0: never
    clip: float | None = None  # bound on the gradient norm
    hidden: tuple[int, ...] | None = None  # None: as in the paper
    labels: int = 100  # M1+M2: labelled training rows
    labelled_batch: int | None = None  # M1+M2: labelled rows per step; None: as batch_size
    alpha: float = 1.0  # M1+M2: weight of the classification loss
    label_tolerance: float = 0.0  # M1+M2: probability that the sum over labels may leave out
    dropout: float = 0.0  # graphs
    kl_weight: float | None = None  # graphs: weight of the mean KL; None: 1 / nodes
    multiplier: float = 5.0  # graphs: start of the learnable factor of the dot product
    split_seed: int | None = None  # graphs: seed of the edge split; None: as seed
    device: str = "cpu"
    threads: int | None = None
    compile: bool = False

    @property
    def spec(self) -> ModelSpec:
        return MODELS[self.model]

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=2) + "\n"


# May differ between a run and its continuation: they say where and how long, not what.
RESUMABLE = frozenset({"epochs", "data", "data_root", "device", "threads", "compile"})


def make_config(model: str, **options: Any) -> RunConfig:
    """The model's defaults, overridden by the options that are not None."""
    if model not in MODELS:
        raise ConfigError(f"unknown model {model!r}: expected one of {', '.join(MODELS)}")
    given = {name: value for name, value in options.items() if value is not None}
    if model.endswith("vgae") and given.get("data", "").endswith("pubmed"):
        given.setdefault("epochs", 400)
    return check_config(RunConfig(model=model, **{**MODELS[model].defaults, **given}))


def config_from_json(text: str, origin: str) -> RunConfig:
    """A configuration file may have been edited or made by a stranger: every type is checked."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ConfigError(f"{origin}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{origin}: expected a JSON object, got {type(content).__name__}")
    fields = {field.name: field for field in dataclasses.fields(RunConfig)}
    unknown = sorted(set(content) - set(fields))
    if unknown:
        raise ConfigError(f"{origin}: unknown option {unknown[0]!r}")
    if "model" not in content:
        raise ConfigError(f"{origin}: no 'model' is given")
    if isinstance(content.get("hidden"), list):
        content["hidden"] = tuple(content["hidden"])
    for name, value in content.items():
        _check_type(name, value, origin)
    return check_config(RunConfig(**content))


_TYPES: dict[str, tuple[type[Any], ...]] = {
    "model": (str,),
    "data": (str,),
    "data_root": (str, type(None)),
    "validation_rows": (int, type(None)),
    "dim2": (int, type(None)),
    "gradient": (str,),
    "lr": (int, float),
    "beta": (int, float),
    "clip": (int, float, type(None)),
    "hidden": (tuple, type(None)),
    "labelled_batch": (int, type(None)),
    "alpha": (int, float),
    "label_tolerance": (int, float),
    "dropout": (int, float),
    "kl_weight": (int, float, type(None)),
    "multiplier": (int, float),
    "split_seed": (int, type(None)),
    "device": (str,),
    "threads": (int, type(None)),
    "compile": (bool,),
}


def _check_type(name: str, value: Any, origin: str) -> None:
    allowed = _TYPES.get(name, (int,))
    wrong_bool = isinstance(value, bool) and bool not in allowed
    if wrong_bool or not isinstance(value, allowed):
        wanted = " or ".join("null" if t is type(None) else t.__name__ for t in allowed)
        raise ConfigError(f"{origin}: option {name!r} must be {wanted}, got {value!r}")
    if name == "hidden" and value is not None and not all(type(n) is int for n in value):
        raise ConfigError(f"{origin}: option 'hidden' must be a list of integers, got {value!r}")


def check_config(config: RunConfig) -> RunConfig:
    """Refuses values that cannot work, in the words of the command line's options."""
    if config.model not in MODELS:
        raise ConfigError(f"unknown model {config.model!r}: expected one of {', '.join(MODELS)}")
    kind = config.spec.kind
    held_out = config.validation_rows
    _require(held_out is None or held_out >= 1, "validation-rows", "at least 1", held_out)
    if held_out is not None and (kind == "graph" or config.data == "circle"):
        raise ConfigError("--validation-rows: only image sets have a choice of rows")
    _require(config.dim >= 1, "dim", "a latent dimension of at least 1", config.dim)
    _require(config.dim <= 100_000, "dim", "a latent dimension of at most 100000", config.dim)
    if config.dim2 is not None:
        _require(1 <= config.dim2 <= 100_000, "dim2", "a dimension from 1 to 100000", config.dim2)
    _require(config.gradient in GRADIENTS, "gradient", f"one of {GRADIENTS}", config.gradient)
    if config.gradient != "pathwise" and "spherical" not in config.spec.latents:
        raise ConfigError(
            f"--gradient {config.gradient} needs a von Mises-Fisher latent; "
            f"model {config.model!r} has {' and '.join(config.spec.latents)}"
        )
    _require(config.epochs >= 1, "epochs", "at least 1", config.epochs)
    if kind != "graph":
        _require(config.batch_size >= 1, "batch-size", "at least 1", config.batch_size)
    _require(0 < config.lr < 1e3, "lr", "a positive number", config.lr)
    _require(config.seed >= 0, "seed", "at least 0", config.seed)
    _require(config.beta >= 0, "beta", "at least 0", config.beta)
    _require(config.warm_up >= 0, "warm-up", "at least 0", config.warm_up)
    _require(config.look_ahead >= 0, "look-ahead", "at least 0", config.look_ahead)
    _require(config.clip is None or config.clip > 0, "clip", "a positive number", config.clip)
    _require(
        config.hidden is None or (len(config.hidden) > 0 and min(config.hidden) >= 1),
        "hidden",
        "widths of at least 1",
        config.hidden,
    )
    _require(config.labels >= 1, "labels", "at least 1", config.labels)
    if config.labelled_batch is not None:
        _require(config.labelled_batch >= 1, "labelled-batch", "at least 1", config.labelled_batch)
    _require(config.alpha >= 0, "alpha", "at least 0", config.alpha)
    tolerance = config.label_tolerance
    _require(0 <= tolerance < 1, "label-tolerance", "a probability in [0, 1)", tolerance)
    _require(0 <= config.dropout < 1, "dropout", "a number in [0, 1)", config.dropout)
    _require(config.multiplier > 0, "multiplier", "a positive number", config.multiplier)
    _require(config.threads is None or config.threads >= 1, "threads", "at least 1", config.threads)
    return config


def _require(condition: bool, option: str, expected: str, got: Any) -> None:
    if not condition:
        raise ConfigError(f"--{option}: expected {expected}, got {got!r}")
