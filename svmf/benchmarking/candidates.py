# SPDX-License-Identifier: MIT
"""Who is measured: every candidate with its calls, the packages it needs and where it can run."""

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from svmf.benchmarking import latent
from svmf.benchmarking.latent import Call
from svmf.benchmarking.shapes import Case
from svmf.benchmarking.timing import Timing, choose_clock, threads, time_interleaved

# Plain Python and SciPy are timed up to this many elements: beyond, a call takes seconds.
SLOW_ELEMENTS = 1_100_000


@dataclass(frozen=True)
class Candidate:
    """`calls` maps "sample" and "step" to what makes the call; `packages` must be importable."""

    name: str
    what: str
    calls: Mapping[str, Callable[[Case], Call]]
    packages: tuple[str, ...] = ()
    most_elements: int | None = None
    devices: tuple[str, ...] = ("cpu", "cuda")

    def missing(self) -> str | None:
        """The first package that is not installed."""
        return next((p for p in self.packages if importlib.util.find_spec(p) is None), None)

    def applies(self, case: Case) -> bool:
        small = self.most_elements is None or case.shape.elements <= self.most_elements
        return case.op in self.calls and small and case.device.split(":")[0] in self.devices


CANDIDATES = (
    Candidate(
        "svmf",
        "svmf.functional.vmf_rsample, vmf_rsample_kl",
        {"sample": latent.svmf_sample, "step": latent.svmf_step},
    ),
    Candidate(
        "class",
        "svmf.distributions.VonMisesFisher, default validation",
        {"sample": latent.class_sample, "step": latent.class_step},
    ),
    Candidate(
        "Normal",
        "torch.distributions.Normal, default validation",
        {"sample": latent.normal_sample, "step": latent.normal_step},
    ),
    Candidate(
        "Normal'",
        "torch.distributions.Normal, validate_args=False",
        {
            "sample": lambda case: latent.normal_sample(case, validate=False),
            "step": lambda case: latent.normal_step(case, validate=False),
        },
    ),
    Candidate("randn", "torch.randn", {"sample": latent.randn}),
    Candidate(
        "copy",
        "the limit: a plain copy; for a step a multiplication, forward and backward",
        {"sample": latent.copy_sample, "step": latent.copy_step},
    ),
    Candidate(
        "reference",
        "svmf.reference: the paper's algorithms in plain torch and SciPy",
        {"sample": latent.reference_sample, "step": latent.reference_step},
        packages=("numpy", "scipy"),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
)


def installed(candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Those that can run here, and one line for each that cannot."""
    found, lines = [], []
    for candidate in candidates:
        missing = candidate.missing()
        if missing is None:
            found.append(candidate)
        else:
            lines.append(f"{candidate.name}: skipped, the package {missing} is not installed")
    return found, lines


def measure(
    case: Case,
    candidates: Iterable[Candidate],
    *,
    seconds: float,
    failures: dict[str, str],
    cpu_time: bool = False,
) -> dict[str, Timing]:
    """Times the candidates that apply to the case by turns. One from elsewhere that raises is left
    out, with its message in `failures`: its limits are neither ours to hide nor to die of."""
    chosen = {candidate.name: candidate for candidate in candidates if candidate.applies(case)}

    def leave_out(name: str, error: Exception) -> None:
        if not chosen[name].packages:
            raise error
        failures.setdefault(name, f"{case}: {type(error).__name__}: {error}".splitlines()[0])

    calls: dict[str, Call] = {}
    with threads(case.threads):
        for name, candidate in chosen.items():
            try:
                calls[name] = candidate.calls[case.op](case)
            except Exception as error:
                leave_out(name, error)
        return time_interleaved(
            calls,
            seconds=seconds,
            least_blocks=3,
            device=case.device,
            clock=choose_clock(cpu_time, case.threads, case.device),
            on_error=leave_out,
        )
