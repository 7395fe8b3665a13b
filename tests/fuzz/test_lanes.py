# SPDX-License-Identifier: MIT
"""Each lane of the fuzzer finds the faults that it is for, planted back one at a time."""

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.campaign import LANES, Campaign
from fuzz.checks import Finding

import svmf.functional as F
from svmf.data import files, graph, idx, npz, pickle_objects, planetoid, safe_pickle
from svmf.errors import DataError

Patch = pytest.MonkeyPatch


def tuples_of_anything(patch: Patch) -> None:
    """Tuples nest, so that a key or a code can be as deep as the file is long."""
    patch.setattr(safe_pickle._Machine, "push_tuple", lambda m, values: m.push(tuple(values)))
    patch.setattr(safe_pickle, "is_size", lambda value: hash(value) is not None)


def lists_of_anything(patch: Patch) -> None:
    def append(machine: Any, values: list[Any]) -> None:
        target = machine.pop()
        target.extend(values)
        machine.push(target)

    patch.setattr(safe_pickle._Machine, "append", append)


def lists_shared_without_bound(patch: Patch) -> None:
    patch.setattr(safe_pickle._Machine, "checked_adjacency", lambda m, result: result)


def array_length_unchecked(patch: Patch) -> None:
    def build(array: Any, state: Any) -> None:
        _, shape, dtype, _, data = state
        array.value = np.frombuffer(data, dtype.value).reshape(shape)

    patch.setattr(pickle_objects.Array, "build", build)


def memory_reserved_at_once(patch: Patch) -> None:
    """Found by the lane when the reader was new: six bytes cost 64 MB."""

    def read(path: Path, limit: int) -> bytes:
        with path.open("rb") as stream:
            return stream.read(limit + 1)

    patch.setattr(safe_pickle, "read_bounded", read)


def indices_unchecked(patch: Patch) -> None:
    patch.setattr(planetoid, "_within", lambda *_: True)


def any_number_of_edges(patch: Patch) -> None:
    patch.setattr(graph, "_MIN_EDGES", 0)


def headers_evaluated_by_numpy(patch: Patch) -> None:
    """NumPy's own reader reserves what a header claims."""
    import io

    patch.setattr(npz, "_array", lambda content: np.load(io.BytesIO(content), allow_pickle=False))


def header_sizes_believed(patch: Patch) -> None:
    patch.setattr(idx, "refuse_bomb", lambda *_: None)


def errors_of_pages(patch: Patch) -> None:
    def refuse(*_: Any) -> None:
        raise DataError("no\n" * 300)

    patch.setattr(files, "refuse_bomb", refuse)
    patch.setattr(idx, "refuse_bomb", refuse)


def lock_over_a_fork(patch: Patch) -> None:
    """As when a table was built under a mutex that a fork did not know of."""
    from fuzz import process_life

    lock, right = threading.Lock(), process_life._gradient

    def gradient(dim: int) -> str:
        with lock:
            return right(dim)

    patch.setattr(process_life, "_gradient", gradient)
    patch.setattr(process_life, "HANG_SECONDS", 3.0)


def directions_of_nothing(patch: Patch) -> None:
    """The usual normalisation: a blank row has no direction and an enormous gradient."""
    from svmf.models.latents import sphere

    patch.setattr(sphere, "direction", lambda loc: torch.nn.functional.normalize(loc, dim=-1))


def squares_that_overflow(patch: Patch) -> None:
    """A norm without care for the scale: inf from 1e20 on in float32."""
    from svmf.models.latents import sphere

    def direction(loc: torch.Tensor) -> torch.Tensor:
        length = torch.linalg.vector_norm(loc, dim=-1, keepdim=True)
        usual = (length > 1e-12) & (length < torch.inf)
        short = torch.where(length < 1, right(loc), loc / length)
        return torch.where(usual, right(loc), short)

    right = sphere.direction
    patch.setattr(sphere, "direction", direction)


def checkpoint_tensors_unchecked(patch: Patch) -> None:
    """Adam's moments may have another shape or share their memory: it writes out of bounds."""
    from svmf.training.checked import Part

    patch.setattr(Part, "tensor", lambda part, *_, **__: part.value)


def checkpoint_numbers_unchecked(patch: Patch) -> None:
    from svmf.training.checked import Part

    patch.setattr(Part, "integer", lambda part, *_, **__: part.value)


def runs_unlocked(patch: Patch) -> None:
    from svmf.training.run_folder import RunFolder

    patch.setattr(RunFolder, "lock", lambda *_, **__: None)


def plant(patch: Patch, name: str, function: Callable[..., torch.Tensor]) -> None:
    """Puts a function of kappa and dim in the place of an op."""
    from fuzz import derivative_calls

    (op,) = (op for op in derivative_calls.OPS if op.name == name)
    faulty = dataclasses.replace(op, call=lambda setting, given: [function(*given, setting.dim)])
    patch.setattr(derivative_calls, "OPS", [faulty])


def no_tangents(patch: Patch) -> None:
    """Forward mode gives zeros."""

    class Silent(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(kappa: torch.Tensor, dim: int) -> torch.Tensor:
            return vmf_mean_length(kappa, dim)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])
            ctx.dim = inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            (kappa,) = ctx.saved_tensors
            slope = torch.func.grad(lambda k: vmf_mean_length(k, ctx.dim).sum())(kappa)
            return grad * slope, None

        @staticmethod
        def jvp(ctx: Any, tangent: torch.Tensor, _: Any) -> torch.Tensor:
            return torch.zeros_like(tangent)

    vmf_mean_length = F.vmf_mean_length
    plant(patch, "vmf_mean_length", Silent.apply)


def derivative_cut_off(patch: Patch) -> None:
    """The gradient is right and has itself the derivative zero."""

    def wrong(kappa: torch.Tensor, dim: int) -> torch.Tensor:
        held = kappa.detach()
        slope = torch.ops.svmf._vmf_kl_uniform_grad(held, dim)
        return F.vmf_kl_uniform(held, dim) + slope * (kappa - held)

    plant(patch, "vmf_kl_uniform", wrong)


def mixture_without_checks(patch: Patch) -> None:
    from svmf.mixture.estimator import Estimator

    patch.setattr(Estimator, "_expect", lambda *_: None)


def mixture_in_half_types(patch: Patch) -> None:
    """The concentrations have a half type: float16 ends at 65504."""
    from svmf.mixture import VonMisesFisherMixture

    right = VonMisesFisherMixture.__dict__["concentrations_"]
    halved = property(lambda mixture: right.fget(mixture).half())
    patch.setattr(VonMisesFisherMixture, "concentrations_", halved)


def arrays_of_anything(patch: Patch) -> None:
    """Values that are not finite are taken."""
    patch.setattr(torch, "isfinite", lambda rows: torch.ones_like(rows, dtype=torch.bool))


def rho_without_a_bound(patch: Patch) -> None:
    from svmf.distributions import SphericalCauchy

    patch.setattr(SphericalCauchy, "_bound", torch.inf)


def shapes_left_to_torch(patch: Patch) -> None:
    """Batches that do not fit end in torch's text, which names no function of ours."""
    from svmf.distributions import kl, monte_carlo

    for module in (kl, monte_carlo):
        patch.setattr(module, "common_batch", lambda name, *shapes: torch.broadcast_shapes(*shapes))


def flow_without_its_area(patch: Patch) -> None:
    """A density that forgets how the layers stretch the sphere."""
    from svmf.distributions import SphereFlow

    def rsample_log_prob(flow: SphereFlow, shape: Any = ()) -> Any:
        z = flow.rsample(shape)
        return z, flow.base.log_prob(z)

    patch.setattr(SphereFlow, "rsample_log_prob", rsample_log_prob)


def factors_in_another_order(patch: Patch) -> None:
    from svmf.models.latents import product

    def blocks(group: product._Group, values: torch.Tensor) -> torch.Tensor:
        return values.unflatten(-1, (-1, group.times)).transpose(-1, -2)

    patch.setattr(product._Group, "blocks", blocks)


def losses_by_one_formula(patch: Patch) -> None:
    """Second derivatives of short predictions cancel."""
    from svmf import losses

    def nll(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        zero = (prediction == 0).all(-1, keepdim=True)
        loc, length = losses.unit_and_length(torch.where(zero, 1e-12 * target, prediction))
        return -F.vmf_log_prob(target, loc, length.squeeze(-1))

    patch.setattr(losses, "_nll_of_vectors", nll)


def labels_in_any_shape(patch: Patch) -> None:
    from svmf import losses

    right = losses.vmf_classification_loss

    def loss(features: torch.Tensor, target: torch.Tensor, *rest: Any, **options: Any) -> Any:
        fits = target.numel() == features[..., 0].numel()
        given = target.reshape(features.shape[:-1]) if fits else target
        return right(features, given, *rest, **options)

    patch.setattr(losses, "vmf_classification_loss", loss)


def squares_of_what_is_short(patch: Patch) -> None:
    """The inverse of the stereographic projection next to the point that it misses."""
    from svmf.constraints import StereographicTransform

    def inverse(_: Any, y: torch.Tensor) -> torch.Tensor:
        first, rest = y[..., :1], y[..., 1:]
        towards = rest.square().sum(-1, keepdim=True) / (1 - first)
        return rest / torch.where(first < 0, towards, 1 + first)

    patch.setattr(StereographicTransform, "_inverse", inverse)


PLANTED: list[tuple[str, Callable[[Patch], None], int]] = [
    ("pickles", tuples_of_anything, 300),
    ("pickles", lists_of_anything, 300),
    ("pickles", lists_shared_without_bound, 300),
    ("pickles", array_length_unchecked, 300),
    ("pickles", memory_reserved_at_once, 10),
    ("graphs", indices_unchecked, 300),
    ("graphs", any_number_of_edges, 300),
    ("graphs", headers_evaluated_by_numpy, 300),
    ("images", header_sizes_believed, 300),
    ("images", errors_of_pages, 20),
    ("derivatives", no_tangents, 20),
    ("derivatives", derivative_cut_off, 20),
    ("mixtures", mixture_without_checks, 60),
    ("mixtures", mixture_in_half_types, 60),
    ("arrays", arrays_of_anything, 300),
    ("forks", lock_over_a_fork, 5),
    ("latents", directions_of_nothing, 30),
    ("latents", squares_that_overflow, 30),
    ("checkpoints", checkpoint_tensors_unchecked, 100),
    ("checkpoints", checkpoint_numbers_unchecked, 100),
    ("runs", runs_unlocked, 200),  # they have to meet: on a busy machine not at once
    ("distributions", rho_without_a_bound, 300),
    ("distributions", shapes_left_to_torch, 600),
    ("flows", flow_without_its_area, 30),
    ("products", factors_in_another_order, 30),
    ("losses", losses_by_one_formula, 100),
    ("losses", labels_in_any_shape, 300),
    ("losses", squares_of_what_is_short, 300),
]


@pytest.mark.parametrize(
    ("lane", "fault", "calls"), PLANTED, ids=[fault.__name__ for _, fault, _ in PLANTED]
)
def test_planted_fault_is_found(
    lane: str, fault: Callable[[Patch], None], calls: int, monkeypatch: Patch
) -> None:
    fault(monkeypatch)
    with pytest.raises(Finding):
        make_calls(lane, calls)


def make_calls(lane: str, count: int) -> None:
    campaign = Campaign(7, [lane])
    for number in range(count):
        campaign.call(number)


@pytest.mark.parametrize("lane", ["pickles", "graphs", "images", "arrays"])
def test_lane_is_quiet(lane: str) -> None:
    """Without a fault there is no finding, and both outcomes come up."""
    campaign = Campaign(7, [lane])
    outcomes = {campaign.call(number).split()[0].split(".")[1] for number in range(100)}
    assert outcomes == {"read", "refused"}


def test_every_lane_can_be_named() -> None:
    assert Campaign(0, list(LANES)).lanes == tuple(LANES)
