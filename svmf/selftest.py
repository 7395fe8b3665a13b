# SPDX-License-Identifier: MIT
"""`svmf selftest`: every op on this machine's device, against the CPU, in about half a minute.

On a GPU the expectation is the CPU's result; on the CPU float32 is held against float64, and
float64 against the formulas of svmf.reference. Nothing here replaces the tests of the repository:
it answers whether this build runs on this machine.
"""

import math
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

import svmf.functional as F
from svmf import _gpus, reference
from svmf import _inventory as inventory
from svmf._library import build_info
from svmf.distributions import VonMisesFisher

ops = torch.ops.svmf
ROWS, M = 257, 10
# Sums are added in another order on a GPU.
UNITS = 64
# 1 - w of six samples on S^2, kappa = 0 and seed 1: the random words, and the seed they come from.
KNOWN = (
    0.21948165404857867,
    0.6560034622093143,
    1.505197055378696,
    0.4847469772042039,
    1.5044735629748212,
    1.67944356505965,
)


class SkippedError(Exception):
    """A check that this machine has nothing for."""


def directions(rows: int, m: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, m, generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(x, dim=-1)


def calls() -> Iterator[tuple[str, Callable[..., Any], tuple, int]]:
    """Every op: its name, the op, float64 arguments on the CPU, and how many are differentiated."""
    kappa = torch.logspace(-2, 3, ROWS, dtype=torch.float64)
    loc, other = directions(ROWS, M, 1), directions(ROWS, M, 2)
    seed = torch.tensor([1])
    given = {"vector": (loc, other, loc.flip(0)), "kappa": (kappa, kappa.flip(0))}
    for name in inventory.BESSEL:
        derivatives = 1 if inventory.is_public(name) else 0
        yield name, getattr(ops, name).default, (2.5, kappa), derivatives
        order = torch.linspace(0, 40, ROWS, dtype=torch.float64)
        yield f"{name}.tensor", getattr(ops, name).tensor, (order, kappa), 0
    for of_kappa in inventory.OF_KAPPA:
        argument = kappa if of_kappa.argument == "kappa" else kappa / (kappa + 1)
        derivatives = 1 if inventory.is_public(of_kappa.name) else 0
        yield of_kappa.name, getattr(ops, of_kappa.name).default, (argument, M), derivatives
    w = torch.linspace(-0.5, 0.9, ROWS, dtype=torch.float64)
    yield inventory.PATHWISE, getattr(ops, inventory.PATHWISE).default, (w, kappa / 100, M), 0
    for of_rows in inventory.OF_ROWS:
        taken = {kind: iter(tensors) for kind, tensors in given.items()}
        arguments = tuple(next(taken[kind]) for kind in of_rows.arguments)
        derivatives = len(arguments) if inventory.is_public(of_rows.name) else 0
        yield of_rows.name, getattr(ops, of_rows.name).default, arguments, derivatives
    for name in inventory.SAMPLERS:
        options = ([2], 0, True) if name != inventory.SAMPLERS[-1] else ([2], True)
        yield name, getattr(ops, name).default, (loc, kappa, seed, *options), 2


def place(values: tuple, device: str, dtype: torch.dtype, derivatives: int) -> list:
    placed = []
    for value in values:
        if isinstance(value, Tensor):
            value = value.to(device, dtype if value.is_floating_point() else value.dtype)
            if derivatives > 0 and value.is_floating_point():
                value = value.clone().requires_grad_()
                derivatives -= 1
        placed.append(value)
    return placed


def evaluate(
    op: Callable, values: tuple, derivatives: int, device: str, dtype: torch.dtype
) -> list:
    """Results and gradients of the sum of all results, on the CPU in float64."""
    placed = place(values, device, dtype, derivatives)
    results = op(*placed)
    results = [results] if isinstance(results, Tensor) else list(results)
    wanted = [t for t in placed if isinstance(t, Tensor) and t.requires_grad]
    gradients: list[Tensor] = []
    if wanted:
        weights = [torch.linspace(0.5, 1.5, r.numel(), device=device, dtype=dtype) for r in results]
        total = sum(
            (r.flatten() * w).sum()
            for r, w in zip(results, weights, strict=True)
            if r.requires_grad
        )
        gradients = list(torch.autograd.grad(total, wanted))
    return [t.detach().cpu().double() for t in (*results, *gradients)]


def compare(ours: list, theirs: list, units: float, eps: float) -> float:
    """The largest difference, in eps of the largest value of each result."""
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        if one.shape != other.shape or not one.isfinite().all():
            raise AssertionError(f"shape {list(one.shape)} or values are wrong")
        scale = other.abs().max().item() if other.numel() else 0.0
        if scale > 0:
            worst = max(worst, (one - other).abs().max().item() / (eps * scale))
    if worst > units:
        raise AssertionError(f"differs by {worst:.3g} eps of the largest value, allowed {units:g}")
    return worst


def check_ops(device: str) -> str:
    count, worst = 0, 0.0
    for name, op, values, derivatives in calls():
        for dtype in (torch.float32, torch.float64):
            eps = torch.finfo(dtype).eps
            try:
                ours = evaluate(op, values, derivatives, device, dtype)
                if device == "cuda":
                    theirs, units = evaluate(op, values, derivatives, "cpu", dtype), UNITS
                elif dtype == torch.float32:
                    # Rounded arguments and, in samplers, words of another length.
                    if name in inventory.SAMPLERS:
                        continue
                    rounded = tuple(
                        v.float().double() if isinstance(v, Tensor) and v.is_floating_point() else v
                        for v in values
                    )
                    theirs = evaluate(op, rounded, derivatives, "cpu", torch.float64)
                    units = 4096
                else:
                    count += 1
                    continue
                worst = max(worst, compare(ours, theirs, units, eps))
            except AssertionError as error:
                raise AssertionError(f"{name}, {dtype}: {error}") from None
            count += 1
    return f"{count} calls with gradients, at most {worst:.2g} eps apart"


def check_reference(device: str) -> str:
    kappa = torch.logspace(-1, 3, 9, dtype=torch.float64)
    names = [op.name for op in inventory.public_of_kappa()]
    for name in names:
        ours = getattr(F, name)(kappa.to(device), M).cpu()
        torch.testing.assert_close(ours, getattr(reference, name)(kappa, M), rtol=1e-9, atol=1e-12)
    return f"{len(names)} functions of kappa agree with svmf.reference to 1e-9"


def check_words(device: str) -> str:
    loc = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64, device=device)
    kappa, seed = torch.zeros((), dtype=torch.float64, device=device), torch.tensor([1])
    state = ops.vmf_rsample(loc, kappa, seed.to(device), [len(KNOWN)], 0, True)[1]
    known = torch.tensor(KNOWN, dtype=torch.float64)
    torch.testing.assert_close(state[0].cpu(), known, rtol=0, atol=1e-14)
    return f"{len(KNOWN)} samples of seed 1 are the known ones"


def check_moments(device: str) -> str:
    torch.manual_seed(0)
    n, kappa = 200_000, 20.0
    loc = directions(1, M, 3)[0].to(device)
    z = F.vmf_rsample(loc, torch.tensor(kappa, dtype=torch.float64, device=device), (n,))
    mean = reference.vmf_mean_length(torch.tensor(kappa).double(), M).item()
    spread = 1 / math.sqrt(n)
    got = (z @ loc).mean().item()
    if not abs(got - mean) < 6 * spread:
        raise AssertionError(f"mean of mu.z is {got:.6f}, expected {mean:.6f}")
    return f"mean of mu.z over {n} samples {got:.5f}, expected {mean:.5f}"


def step(loc: Tensor, kappa: Tensor, seed: Tensor) -> list[Tensor]:
    z, kl, _ = ops.vmf_rsample_kl.default(loc, kappa, seed, [2], 0, True)
    return [z, kl, *torch.autograd.grad(z[..., 0].sum() + kl.sum(), (loc, kappa))]


def batch(device: str, rows: int = 512, m: int = M) -> tuple[Tensor, Tensor, Tensor]:
    loc = directions(rows, m, 4).float().to(device).requires_grad_()
    kappa = torch.logspace(-1, 3, rows, device=device).requires_grad_()
    return loc, kappa, torch.tensor([7], device=device)


def needs_cuda(device: str) -> None:
    if device != "cuda":
        raise SkippedError("for GPUs")


def equal(ours: list[Tensor], theirs: list[Tensor]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        if not torch.equal(one, other.to(one.device)):
            raise AssertionError("the bits differ")


def check_stream(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)
    want = step(loc, kappa, seed)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        got = step(loc, kappa, seed)
    side.synchronize()
    equal(got, want)
    return "equal bits on a side stream"


def check_second_device(device: str) -> str:
    needs_cuda(device)
    if torch.cuda.device_count() < 2:
        raise SkippedError("one GPU only")
    want, got = step(*batch("cuda:0")), step(*batch("cuda:1"))
    equal(got, want)
    return "equal bits on cuda:1"


def check_graph(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step(loc, kappa, seed)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step(loc, kappa, seed)
        VonMisesFisher(loc, kappa).rsample()
    for value in (3, -5):
        seed.fill_(value)
        graph.replay()
        equal(captured, step(loc, kappa, torch.tensor([value], device=device)))
    return "a captured step follows the seed"


def check_compile(device: str) -> str:
    loc, kappa, _ = batch(device, 64)
    try:
        torch.compile(torch.sin)(kappa.detach())
    except Exception as error:  # no C++ compiler, or no Triton
        raise SkippedError(f"torch.compile does not work here: {type(error).__name__}") from None

    def objective() -> Tensor:
        z, kl = F.vmf_rsample_kl(loc, kappa)
        return z[..., 0].sum() + kl.sum()

    results = []
    for function in (objective, torch.compile(objective, fullgraph=True)):
        torch.manual_seed(1)
        value = function()
        results.append([value.detach(), *torch.autograd.grad(value, (loc, kappa))])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    return "a compiled step agrees, with its gradients"


def check_long_row(device: str) -> str:
    needs_cuda(device)
    m = 2**28
    if torch.cuda.mem_get_info()[0] < 5 * 4 * m:
        raise SkippedError("needs 5 GB of free device memory")
    loc = torch.zeros(1, m, device=device)
    loc[0, -1] = 1
    seed = torch.tensor([1], device=device)
    z, _ = ops.vmf_rsample(loc, torch.full((1,), 1e6, device=device), seed, [], 0, False)
    norm = torch.linalg.vector_norm(z, dtype=torch.float64).item()
    if not abs(norm - 1) < 1e-4:
        raise AssertionError(f"the norm is {norm}")
    return f"a row of 1 GB has norm {norm:.6f}"


def check_out_of_memory(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)
    try:
        ops.vmf_rsample(loc, kappa, seed, [2**31], 0, False)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return "torch.OutOfMemoryError"
    raise AssertionError("no torch.OutOfMemoryError")


def check_launches(device: str) -> str:
    needs_cuda(device)
    from torch.profiler import ProfilerActivity, profile

    loc, kappa, seed = batch(device)
    step(loc, kappa, seed)
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        step(loc, kappa, seed)
        torch.cuda.synchronize()
    ours = sum(e.count for e in seen.key_averages() if "svmf" in e.key)
    return f"{ours} launches of svmf in a step of sampling, KL and their gradients"


def seconds(work: Callable[[], object], device: str) -> float:
    """The median of some runs."""
    times = []
    for _ in range(15):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def check_speed(device: str) -> str:
    parts = []
    for m in (10, 128):
        loc, kappa, seed = batch(device, 8192, m)
        mean, deviation = loc.detach(), torch.ones_like(loc)
        ours = seconds(partial(step, loc, kappa, seed), device)
        normal = seconds(partial(torch.normal, mean, deviation), device)
        parts.append(f"8192 x {m}: step {1e6 * ours:.0f} us, torch.normal {1e6 * normal:.0f} us")
    return "; ".join(parts)


def check_architecture(device: str) -> str:
    needs_cuda(device)
    built = build_info()["cuda_archs"]
    for i in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(i)
        if not _gpus.fits(built, capability):
            name = ".".join(map(str, capability))
            raise AssertionError(f"built for {built}, cuda:{i} is {name}: set TORCH_CUDA_ARCH_LIST")
    return f"built for {built}"


CHECKS: dict[str, Callable[[str], str]] = {
    "architectures": check_architecture,
    "random words": check_words,
    "every op": check_ops,
    "reference": check_reference,
    "moments": check_moments,
    "side stream": check_stream,
    "second device": check_second_device,
    "CUDA graph": check_graph,
    "torch.compile": check_compile,
    "long row": check_long_row,
    "out of memory": check_out_of_memory,
    "launches": check_launches,
    "speed": check_speed,
}


def facts() -> dict[str, str]:
    info = build_info()
    return {
        "svmf": f"{info['svmf']}, {info['compiler']}, instruction set {info['cpu_isa']}",
        "built with CUDA": f"{info['cuda'] or 'no'} {info['cuda_archs']}".strip(),
        "torch": f"{info['torch']}, CUDA {torch.version.cuda or 'no'}",
        "driver": _gpus.driver() or "none",
        "GPU": "; ".join(_gpus.names()) or "none",
        "machine": f"{platform.platform()}, Python {platform.python_version()}",
    }


def selftest(device: str | None = None) -> int:
    """Prints the report; 0 if nothing failed, else 1."""
    has_cuda = torch.cuda.is_available() and bool(build_info()["cuda"])
    device = device or ("cuda" if has_cuda else "cpu")
    print(f"svmf selftest, device {device}")
    for name, text in facts().items():
        print(f"  {name:16s} {text}")
    if device == "cuda" and not has_cuda:
        print("  FAIL: needs a GPU that torch sees and an svmf built with CUDA (docs/cuda.md)")
        return 1
    start, failed = time.perf_counter(), 0
    for name, check in CHECKS.items():
        try:
            outcome, text = "ok", check(device)
        except SkippedError as reason:
            outcome, text = "skip", str(reason)
        except Exception as error:
            outcome, text = "FAIL", f"{type(error).__name__}: {error}".split("\n\n")[0]
            failed += 1
        print(f"{outcome:4s} {name:16s} {text}", flush=True)
    took = time.perf_counter() - start
    print(f"{f'{failed} FAILED' if failed else 'everything works'}, {took:.0f} s")
    return 1 if failed else 0
