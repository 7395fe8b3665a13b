# SPDX-License-Identifier: MIT
"""Who is measured: the latent part of a training step by svmf, by torch and by the reference.

A candidate makes a call without arguments out of a case. Parameters are leaves that require a
gradient; a distribution is constructed in the call, as in a training step; the backward pass starts
from fixed incoming gradients.
"""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from svmf.benchmarking.cases import Case
from svmf.benchmarking.timing import Call, Timing, choose_clock, threads, time_interleaved

# Plain Python and SciPy are timed up to this many elements: beyond, a call takes seconds.
SLOW_ELEMENTS = 1_100_000
Makers = Mapping[str, Callable[[Case], Call]]
Leaves = tuple[Tensor, ...]


@dataclass(frozen=True)
class Candidate:
    """`calls` maps "sample" and "step" to what makes the call. One made of other `packages` is
    timed on the CPU alone, is spared large shapes, and may be missing."""

    name: str
    calls: Makers
    packages: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """The first package that is not installed."""
        return next((p for p in self.packages if importlib.util.find_spec(p) is None), None)

    def applies(self, case: Case) -> bool:
        spared = case.device != "cpu" or case.shape.elements > SLOW_ELEMENTS
        return case.op in self.calls and not (self.packages and spared)


def direction(case: Case) -> Tensor:
    """Mean directions [batch, m], a leaf."""
    normal = torch.randn(case.shape.batch, case.shape.m, **case.like)
    return torch.nn.functional.normalize(normal, dim=-1).requires_grad_()


def concentration(case: Case, *trailing: int) -> Tensor:
    """kappa [batch, *trailing], a leaf."""
    return torch.full((case.shape.batch, *trailing), case.kappa, requires_grad=True, **case.like)


def incoming(case: Case) -> tuple[Tensor, Tensor]:
    """Gradients of z and of the KL of each row."""
    z = torch.randn(*case.shape.sample_shape, case.shape.batch, case.shape.m, **case.like)
    return z, torch.ones(case.shape.batch, **case.like)


def latent_calls(make: Callable[[Case], tuple[Leaves, Call, Callable[[], Any]]]) -> Makers:
    """The calls of one whose `make` gives the leaves, what draws z, what draws z and KL."""

    def step(case: Case) -> Call:
        leaves, _, forward = make(case)
        gradients = incoming(case)
        return lambda: torch.autograd.grad(forward(), leaves, gradients)

    return {"sample": lambda case: make(case)[1], "step": step}


def _vmf(module: str) -> Makers:
    """The ops of svmf.functional or svmf.reference, imported when they are needed."""

    def make(case: Case) -> tuple[Leaves, Call, Call]:
        ops, loc, kappa = importlib.import_module(module), direction(case), concentration(case)
        return (
            (loc, kappa),
            lambda: ops.vmf_rsample(loc, kappa, case.shape.sample_shape),
            lambda: ops.vmf_rsample_kl(loc, kappa, case.shape.sample_shape),
        )

    return latent_calls(make)


def _normal(checks: bool | None) -> Makers:
    """torch.distributions.Normal of the same size, with this `validate_args`."""

    def make(case: Case) -> tuple[Leaves, Call, Call]:
        loc = torch.randn(case.shape.batch, case.shape.m, requires_grad=True, **case.like)
        scale = torch.ones_like(loc, requires_grad=True)

        def draw_with_kl() -> tuple[Tensor, Tensor]:
            posterior = Normal(loc, scale, validate_args=checks)
            prior = Normal(torch.zeros_like(loc), torch.ones_like(scale), validate_args=checks)
            z = posterior.rsample(case.shape.sample_shape)
            return z, kl_divergence(posterior, prior).sum(-1)

        def draw() -> Tensor:
            return Normal(loc, scale, validate_args=checks).rsample(case.shape.sample_shape)

        return (loc, scale), draw, draw_with_kl

    return latent_calls(make)


def _randn(case: Case) -> Call:
    size, like = (*case.shape.sample_shape, case.shape.batch, case.shape.m), case.like
    return lambda: torch.randn(size, **like)


CANDIDATES = (
    Candidate("svmf", _vmf("svmf.functional")),
    Candidate("Normal", _normal(None)),  # torch's default validation
    Candidate("Normal'", _normal(False)),
    Candidate("randn", {"sample": _randn}),
    Candidate("reference", _vmf("svmf.reference"), packages=("numpy", "scipy")),
)


def installed(candidates: Iterable[Candidate], note: Callable[[str], None]) -> list[Candidate]:
    """Those that can run here; `note` hears a line of each that cannot."""
    found = []
    for candidate in candidates:
        if (package := candidate.missing()) is None:
            found.append(candidate)
        else:
            note(f"{candidate.name}: skipped, the package {package} is not installed")
    return found


def measure(
    case: Case, candidates: Iterable[Candidate], *, seconds: float, cpu_time: bool = False
) -> dict[str, Timing]:
    """Times the candidates that apply to the case by turns."""
    with threads(case.threads):
        return time_interleaved(
            {c.name: c.calls[case.op](case) for c in candidates if c.applies(case)},
            seconds=seconds,
            least_blocks=3,
            device=case.device,
            clock=choose_clock(cpu_time, case.threads, case.device),
        )


@dataclass(frozen=True)
class Measurement:
    """A case, the quantity it varies ("" for chosen values) and every candidate's timing."""

    case: Case
    sweep: str
    timings: dict[str, Timing]


def measure_cases(
    cases: Sequence[tuple[str, Case]],
    candidates: Sequence[Candidate],
    tell: Callable[[float, str], None],
    seconds: float,
    cpu_time: bool,
) -> Iterator[Measurement]:
    """`tell` (share, case) hears of the progress. A case that comes again is not timed again."""
    measured: dict[tuple[Case, bool], dict[str, Timing]] = {}
    for index, (sweep, case) in enumerate(cases):
        tell(index / len(cases), str(case))
        # numbers of threads can be compared by the wall clock alone
        key = (case, cpu_time and sweep != "threads")
        if key not in measured:
            measured[key] = measure(case, candidates, seconds=seconds, cpu_time=key[1])
        yield Measurement(case, sweep, measured[key])
