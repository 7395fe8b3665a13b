# SPDX-License-Identifier: MIT
"""The configuration of a run: one flat record, checked once, kept as readable JSON.

`RunConfig` says each option once (see `svmf.training.options`); defaults that differ between models
are in `MODELS`. No torch: the command line answers at once.
"""

import dataclasses
import difflib
import functools
import json
import reprlib
from dataclasses import dataclass
from typing import Any

from svmf._gradients import GRADIENTS, PATHWISE
from svmf.errors import ConfigError, one_line
from svmf.training.latent_words import LETTERS_IN_WORDS, parse_latent
from svmf.training.model_table import MODELS, ModelSpec
from svmf.training.options import Option, Range, option, options_of

LIKELIHOODS = ("auto", "bernoulli", "gaussian", "vmf")

_DIMENSION = Range(at_least=1, at_most=100_000, noun="a latent dimension")
_COUNT = Range(at_least=1)
_NOT_NEGATIVE = Range(at_least=0)
_MOST_LAYERS = 1000
_SEED = Range(at_least=0, at_most=2**63 - 1)
_WEIGHT = Range(at_least=0, at_most=1e9)  # of a term of the loss, in float32
_DATA, _MODEL, _TRAINING, _MACHINE = "data", "model", "training", "machine"
_SEMI, _GRAPHS = "semi-supervised", "graph"


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides the outcome of a run, and where it runs. Defaults that differ between
    models are in MODELS. `dim` is the paper's d, here and on the command line."""

    model: str
    data: str = option(
        "digits",
        "digits, mnist, circle, one's own rows as x.npy, x.npz, x.csv or a folder of images, a "
        "folder of idx files; cora, citeseer, pubmed, FOLDER/NAME",
        _DATA,
        metavar="NAME_OR_PATH",
        resumable=True,
    )
    data_root: str | None = option(
        None,
        "where named data sets lie",
        _DATA,
        metavar="DIR",
        without="$SVMF_DATA, then the download cache",
        resumable=True,
    )
    likelihood: str = option(
        "auto",
        "of one's own rows: bernoulli for grey and binary ones, gaussian, vmf for unit vectors; "
        "auto takes the narrowest that fits",
        _DATA,
        choices=LIKELIHOODS,
        metavar="NAME",
        only="vae",
    )
    validation_rows: int | None = option(
        None,
        "rows held out to validate",
        _DATA,
        range=_COUNT,
        without="a share of the set, for MNIST 10000",
    )
    dim: int = option(
        10, "latent dimension d; the sphere S^d lies in R^(d+1)", _MODEL, range=_DIMENSION
    )
    dim2: int | None = option(
        None, "dimension d of z2", _MODEL, range=_DIMENSION, without="as --dim", only=_SEMI
    )
    latent: str | None = option(
        None,
        "product of latent spaces: s10x4+n5 is four spheres S^10 and a Gaussian of 5 "
        f"({LETTERS_IN_WORDS}), instead of the model's own and --dim; z1 in M1+M2",
        _MODEL,
        metavar="FACTORS",
        without="the model's own",
    )
    radius: str = option(
        "1",
        "of the spheres that decoder and classifier see: 1, sqrt (of m), learnable; not for graphs",
        _MODEL,
        choices=("1", "sqrt", "learnable"),
        metavar="R",
    )
    gradient: str = option(
        PATHWISE,
        f"estimator of the gradient in kappa: {', '.join(GRADIENTS)}",
        _MODEL,
        choices=GRADIENTS,
        metavar="NAME",
    )
    seed: int = option(0, "seed of everything random", _TRAINING, range=_SEED)
    epochs: int = option(
        1000, "upper bound on the number of epochs", _TRAINING, range=_COUNT, resumable=True
    )
    batch_size: int = option(
        64,
        "rows per step, over all processes; for a graph links, 0 takes all at once",
        _TRAINING,
        range=_NOT_NEGATIVE,
    )
    lr: float = option(1e-3, "learning rate of Adam", _TRAINING, range=Range(above=0, below=1e3))
    beta: float = option(1.0, "KL weight after the warm-up", _TRAINING, range=_WEIGHT)
    warm_up: int = option(
        0, "epochs of linear growth of the KL weight", _TRAINING, range=_NOT_NEGATIVE
    )
    look_ahead: int = option(
        0,
        "stop after so many epochs without a better validation score; 0 never stops",
        _TRAINING,
        range=_NOT_NEGATIVE,
    )
    clip: float | None = option(
        None, "bound on the gradient norm", _TRAINING, range=Range(above=0), without="none"
    )
    hidden: tuple[int, ...] | None = option(
        None,
        "hidden layer widths",
        _MODEL,
        range=Range(at_least=1, at_most=1_000_000, noun="widths"),
        without="as in the paper",
    )
    labels: int = option(100, "number of labelled rows", _MODEL, range=_COUNT, only=_SEMI)
    labelled_batch: int | None = option(
        None,
        "labelled rows in each step",
        _MODEL,
        range=_COUNT,
        without="as --batch-size",
        only=_SEMI,
    )
    alpha: float = option(
        1.0, "weight of the classification loss", _MODEL, range=_WEIGHT, only=_SEMI
    )
    label_tolerance: float = option(
        0.0,
        "leave out labels that together have this probability; 1e-4 is faster",
        _MODEL,
        range=Range(at_least=0, below=1, noun="a probability"),
        metavar="Q",
        only=_SEMI,
    )
    dropout: float = option(
        0.0, "dropout rate", _MODEL, range=Range(at_least=0, below=1), only=_GRAPHS
    )
    kl_weight: float | None = option(
        None, "weight of the mean KL", _MODEL, range=_WEIGHT, without="1 / nodes", only=_GRAPHS
    )
    multiplier: float = option(
        5.0,
        "start of the learnable factor of the dot product",
        _MODEL,
        range=Range(above=0, at_most=1e9),
        only=_GRAPHS,
    )
    split_seed: int | None = option(
        None, "seed of the edge split", _MODEL, range=_SEED, without="as --seed", only=_GRAPHS
    )
    device: str = option("cpu", "cpu or cuda", _MACHINE, metavar="NAME", resumable=True)
    threads: int | None = option(
        1,
        "CPU threads; one is best for networks of the paper's sizes",
        _MACHINE,
        range=Range(at_least=1, at_most=1024),
        without="torch's choice",
        resumable=True,
    )
    compile: bool = option(False, "compile the training step", _MACHINE, resumable=True)

    @property
    def spec(self) -> ModelSpec:
        return MODELS[self.model]

    def to_json(self) -> str:
        """The record as the text of a run's config.json."""
        return json.dumps(dataclasses.asdict(self), indent=2) + "\n"


@functools.cache
def config_options() -> dict[str, Option]:
    """Every option of a run by its name; the model is none of them."""
    return options_of(RunConfig)


def fixed_options() -> tuple[str, ...]:
    """What a run is: the options that its continuation cannot change."""
    return ("model", *(name for name, item in config_options().items() if not item.said.resumable))


def make_config(model: str, **options: Any) -> RunConfig:
    """The model's defaults, overridden by the options that are not None."""
    _known_model(model)
    for name in options.keys() - config_options().keys():
        close = difflib.get_close_matches(name, config_options(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else ", ".join(config_options())
        raise ConfigError(f"expected options of `svmf train`, got {name!r}: {hint}")
    given = {name: value for name, value in options.items() if value is not None}
    if model.endswith("vgae") and str(given.get("data", "")).endswith("pubmed"):
        given.setdefault("epochs", 400)
    if isinstance(given.get("latent"), str):  # --dim is then the sum, whatever a model's default
        given.setdefault("dim", sum(dim for _, dim in parse_latent(given["latent"])))
    return check_config(RunConfig(model=model, **{**MODELS[model].defaults, **given}))


def config_from_json(text: str, origin: str) -> RunConfig:
    """A configuration file may have been edited or made by a stranger: every type is checked."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{origin}: not JSON: {error}") from error
    return config_from_dict(content, origin)


def config_from_dict(content: Any, origin: str) -> RunConfig:
    """The configuration that a JSON object or a checkpoint holds. Options that it does not name
    have their defaults: files of earlier versions stay readable."""
    if not isinstance(content, dict):
        raise ConfigError(f"{origin}: expected a JSON object, got {type(content).__name__}")
    unknown = sorted(str(name) for name in set(content) - {"model", *config_options()})
    if unknown:
        raise ConfigError(f"{origin}: unknown option {one_line(unknown[0])!r}")
    if "model" not in content:
        raise ConfigError(f"{origin}: no 'model' is given")
    return check_config(RunConfig(**content), f"{origin}: ")


def check_config(config: RunConfig, origin: str = "") -> RunConfig:
    """The configuration with every value in its own type. Refuses values that cannot work, in the
    words of the command line's options."""
    _known_model(config.model)
    read = {
        name: item.read(getattr(config, name), origin) for name, item in config_options().items()
    }
    config = dataclasses.replace(config, **read)
    for name, item in config_options().items():
        item.check(getattr(config, name))
    _check_together(config)
    return config


def _check_together(config: RunConfig) -> None:
    """What one option allows another to be."""
    kind = config.spec.kind
    if config.validation_rows is not None and (kind == "graph" or config.data == "circle"):
        raise ConfigError("--validation-rows: only image sets and one's own rows have a choice")
    if config.hidden is not None and len(config.hidden) > _MOST_LAYERS:
        raise ConfigError(f"--hidden: expected at most {_MOST_LAYERS} widths")
    families = [*config.spec.latents]
    if config.latent is not None:
        factors = parse_latent(config.latent)
        families[:1] = [family for family, _ in factors]
        total = sum(dim for _, dim in factors)
        if total != config.dim:
            raise ConfigError(f"--latent {config.latent}: has d = {total}, but --dim {config.dim}")
        if config.model == "ae":
            raise ConfigError("--latent: an auto-encoder has no posterior; take nvae or svae")
    if config.radius != "1" and kind == "graph":
        raise ConfigError("--radius: graphs have --multiplier, the factor of the dot product")
    if config.radius != "1" and not set(families) - {"point", "gaussian"}:
        raise ConfigError(f"--radius {config.radius}: model {config.model!r} has no sphere")
    if config.gradient != PATHWISE and "spherical" not in families:
        raise ConfigError(
            f"--gradient {config.gradient} needs a von Mises-Fisher latent; "
            f"model {config.model!r} has {' and '.join(families)}"
        )
    if kind != "graph" and config.batch_size < 1:
        raise ConfigError(f"--batch-size: expected at least 1, got {config.batch_size}")


def _known_model(model: Any) -> None:
    if not isinstance(model, str) or model not in MODELS:
        shown = reprlib.repr(model)
        raise ConfigError(f"unknown model {shown}: expected one of {', '.join(MODELS)}")
