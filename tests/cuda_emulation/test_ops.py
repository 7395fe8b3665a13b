# SPDX-License-Identifier: MIT
"""The CUDA op wrappers (checks, layouts, dtypes, shapes, errors) over emulated kernels, against the
CPU ops."""

import ctypes
import re
from pathlib import Path

import emulator
import pytest
import torch

import svmf.functional  # noqa: F401  (registers the ops)
from svmf import _inventory as inventory

cpu = torch.ops.svmf
emulated = torch.ops.svmf_emulated
# Ops that are not kernels.
HOST_OPS = {"svmf::_build_info", "svmf::_draw_seed", "svmf::_parameter_range"}


def schemas() -> list[torch.FunctionSchema]:
    everything = torch._C._jit_get_all_schemas()
    return [s for s in everything if s.name.startswith("svmf::") and s.name not in HOST_OPS]


@pytest.fixture(scope="session", autouse=True)
def library(compiler):
    torch_folder = Path(torch.__file__).resolve().parent
    path = emulator.build_library(torch_folder)
    definitions = torch.library.Library("svmf_emulated", "DEF")
    for schema in schemas():
        definitions.define(str(schema).removeprefix("svmf::"))
    torch.ops.load_library(str(path))
    yield ctypes.CDLL(str(path))
    definitions._destroy()


def packet_and_overload(space, schema):
    packet = getattr(space, schema.name.split("::")[1])
    return getattr(packet, schema.overload_name or "default")


def test_every_op_has_a_cuda_kernel(library):
    assert len(schemas()) > 25
    for schema in schemas():
        name = f"svmf_emulated::{schema.name.split('::')[1]}" + (
            f".{schema.overload_name}" if schema.overload_name else ""
        )
        assert torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"), name


def vectors(*shape: int, dtype=torch.float32) -> torch.Tensor:
    x = torch.randn(shape, dtype=torch.float64)
    return (x / x.norm(dim=-1, keepdim=True)).to(dtype)


SEED = torch.tensor([11])
FAMILY_SAMPLERS = {name for family in inventory.FAMILIES for name in family.samplers}
FAMILY_BACKWARDS = {family.backward for family in inventory.FAMILIES}


def arguments(name: str, overload: str, dtype: torch.dtype, layout: str) -> tuple:
    """Inputs for an op: contiguous, strided, expanded, empty or without batch dimensions."""
    batch = {"empty": (0, 3), "scalar": ()}.get(layout, (4, 3))
    m = 6

    def lay(t: torch.Tensor) -> torch.Tensor:
        if layout == "strided" and t.dim() > 1:
            return t.transpose(0, 1).contiguous().transpose(0, 1)
        if layout == "expanded" and t.dim() > 1:
            return t[:1].expand(t.shape)
        return t

    def values() -> torch.Tensor:
        return lay(torch.rand(batch, dtype=torch.float64).mul(5).to(dtype))

    def rows() -> torch.Tensor:
        return lay(vectors(*batch, m, dtype=dtype))

    if re.search(r"(^|_)[ik]ve?(_|$)", name):
        return (values() if overload else 1.5, values())
    if name in ("householder", "_householder_backward"):
        return tuple(rows() for _ in range(2 if name == "householder" else 3))
    if name == "vmf_kl":
        return rows(), values(), rows(), values()
    if name.endswith("_log_prob"):
        return rows(), rows(), values() / (6 if "cauchy" in name else 1)
    if name.startswith(("spherical_cauchy", "_spherical_cauchy")) and "_rsample" not in name:
        return values() / 6, m
    if name in FAMILY_SAMPLERS:
        return rows(), values() / 6, SEED, (2, 1), True
    if name in FAMILY_BACKWARDS:
        loc, rho = rows(), values() / 6
        z, state = getattr(cpu, name[1:].removesuffix("_backward"))(loc, rho, SEED, (2,), True)
        return torch.randn_like(z), rho.clone(), z, state, loc, rho
    if name in ("vmf_rsample", "vmf_rsample_kl"):
        return rows(), values(), SEED, (2, 1), 0, True
    if name == "vmf_rsample_kl_from_features":
        return 3 * rows(), values(), SEED, (2, 1), 0, 0.5, True
    if name == "_vmf_rsample_kl_from_features_backward":
        features, raw = 3 * rows(), values()
        z, _, state = cpu.vmf_rsample_kl_from_features(features, raw, SEED, (2,), 0, 0.5, True)
        return torch.randn_like(z), raw.clone(), z, state, features, raw, 0, 0.5
    if name == "vmf_rsample_with_correction":
        return rows(), values(), SEED, (2,), True
    if name == "_vmf_rsample_backward":
        loc, kappa = rows(), values()
        z, state = cpu.vmf_rsample(loc, kappa, SEED, (2,), 0, True)
        grad = torch.randn_like(z)
        return grad, kappa.clone(), torch.ones(2, *batch, dtype=dtype), z, state, loc, kappa, 1
    if name == "vmf_pathwise_derivative":
        return values() / 10, values(), m
    if name == "vmf_concentration":
        return values() / 5.001, m
    return values(), m


@pytest.mark.parametrize("layout", ["contiguous", "strided", "expanded", "empty", "scalar"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_ops_agree_with_the_cpu(library, dtype, layout):
    for schema in schemas():
        name = schema.name.split("::")[1]
        inputs = arguments(name, schema.overload_name, dtype, layout)
        want, got = (packet_and_overload(space, schema)(*inputs) for space in (cpu, emulated))
        want, got = ((r,) if isinstance(r, torch.Tensor) else r for r in (want, got))
        for w, g in zip(want, got, strict=True):
            assert w.dtype == g.dtype, name
            assert w.shape == g.shape, name
            assert g.is_contiguous(), name
            # Sums are added in another order; half types are rounded once from float32.
            tolerance = 64 * torch.finfo(w.dtype).eps
            torch.testing.assert_close(
                g, w, rtol=tolerance, atol=tolerance, msg=lambda text, n=name: f"{n}: {text}"
            )


def shifted(t: torch.Tensor) -> torch.Tensor:
    """Equal, contiguous, and no more aligned than its type needs."""
    return torch.cat([t.flatten()[:1], t.flatten()])[1:].view(t.shape)


def same_bits(got, want) -> bool:
    return torch.equal(got.isnan(), want.isnan()) and torch.equal(
        got.nan_to_num(), want.nan_to_num()
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_types_are_computed_in_float32_and_rounded_once(library, dtype):
    for schema in schemas():
        name, op = schema.name.split("::")[1], packet_and_overload(emulated, schema)
        inputs = arguments(name, schema.overload_name, dtype, "contiguous")
        wide = [
            t.float() if isinstance(t, torch.Tensor) and t.dtype == dtype else t for t in inputs
        ]
        got, want = op(*inputs), op(*wide)
        got, want = ((r,) if isinstance(r, torch.Tensor) else r for r in (got, want))
        for g, w in zip(got, want, strict=True):
            assert same_bits(g, w.to(g.dtype)), name


# Runs, a warp and a block per row, rows too long for the park.
@pytest.mark.parametrize("m", [2, 3, 5, 10, 37, 128, 130, 600, 9001])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_samplers_round_half_types_once(library, dtype, m):
    rows = 70 if m < 100 else 3
    for samples, place in ((1, shifted), (3, torch.clone)):
        loc = place(vectors(rows, m, dtype=dtype))
        kappa = place(torch.logspace(-1, 3, rows).to(dtype))
        z, kl, state = emulated.vmf_rsample_kl(loc, kappa, SEED, (samples,), 0, True)
        wide = emulated.vmf_rsample_kl(loc.float(), kappa.float(), SEED, (samples,), 0, True)
        assert state.dtype == torch.float32
        assert torch.equal(state, wide[2])
        assert same_bits(z, wide[0].to(dtype))
        assert same_bits(kl, wide[1].to(dtype))
        grads = [place(torch.randn(t.shape).to(dtype)) for t in (z, kl, state[0])]
        for gradient in (0, 1):
            inputs = (*grads, place(z), state, loc, kappa)
            wide = [t.float() for t in inputs]
            got = emulated._vmf_rsample_backward(*inputs, gradient)
            want = emulated._vmf_rsample_backward(*wide, gradient)
            for g, w in zip(got, want, strict=True):
                assert same_bits(g, w.to(dtype))


@pytest.mark.parametrize("m", [3, 10, 130, 9001])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("family", inventory.FAMILIES, ids=lambda family: family.name)
def test_the_other_families_round_half_types_once(library, family, dtype, m):
    loc, parameter = vectors(5, m, dtype=dtype), torch.linspace(0, 0.9, 5).to(dtype)
    draw, differentiate = (getattr(emulated, n) for n in (family.samplers[1], family.backward))
    for samples in (1, 3):
        z, kl, state = draw(loc, parameter, SEED, (samples,), True)
        wide = draw(loc.float(), parameter.float(), SEED, (samples,), True)
        assert torch.equal(state, wide[2])
        assert same_bits(z, wide[0].to(dtype))
        assert same_bits(kl, wide[1].to(dtype))
        inputs = torch.randn(z.shape).to(dtype), torch.randn(5).to(dtype), z, state, loc, parameter
        want = differentiate(*(t.float() for t in inputs))
        for g, w in zip(differentiate(*inputs), want, strict=True):
            assert same_bits(g, w.to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_every_half_is_read_and_written(library, dtype):
    """Reflected at e1 - e1 = 0: all numbers come back. And floats around every half are rounded as
    torch does, subnormals and the way to infinity included."""
    everything = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype).view(-1, 2)
    e1 = torch.tensor([1.0, 0.0], dtype=dtype).expand_as(everything)
    assert same_bits(emulated.householder(everything, e1)[..., 1], everything[..., 1])
    kappa = torch.logspace(-12, 6, 4001).to(dtype)
    for m in (2, 50, 1000):
        want = emulated.vmf_mean_length(kappa.float(), m).to(dtype)
        assert same_bits(emulated.vmf_mean_length(kappa, m), want)
        assert same_bits(emulated.vmf_kl_uniform(kappa, m),
                         emulated.vmf_kl_uniform(kappa.float(), m).to(dtype))  # fmt: skip


BAD = {
    "dtype": lambda space: space.vmf_kl_uniform(torch.ones(3, dtype=torch.int32), 5),
    "dim": lambda space: space.vmf_kl_uniform(torch.ones(3), 1),
    "order": lambda space: space.log_iv(-1.0, torch.ones(3)),
    "order shape": lambda space: space.log_iv.tensor(torch.ones(2), torch.ones(3)),
    "loc shape": lambda space: space.householder(torch.ones(3, 4), torch.ones(3, 5)),
    "vectors": lambda space: space.householder(torch.ones(3, 1), torch.ones(3, 1)),
    "kappa rows": lambda space: space.vmf_log_prob(
        torch.ones(3, 4), torch.ones(3, 4), torch.ones(4)
    ),
    "kappa dtype": lambda space: space.vmf_rsample(
        torch.ones(3, 4), torch.ones(3, dtype=torch.float64), SEED, (), 0, True
    ),
    "seed": lambda space: space.vmf_rsample(
        torch.ones(3, 4), torch.ones(3), torch.tensor([1, 2]), (), 0, True
    ),
    "state": lambda space: space._vmf_rsample_backward(
        torch.ones(3, 4),
        None,
        None,
        torch.ones(3, 4),
        torch.ones(0, 3),
        torch.ones(3, 4),
        torch.ones(3),
        0,
    ),
}


@pytest.mark.parametrize("mistake", BAD)
def test_mistakes_have_the_messages_of_the_cpu(library, mistake):
    messages = []
    for space in (cpu, emulated):
        with pytest.raises(RuntimeError) as caught:
            BAD[mistake](space)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.fixture
def launch_error(library):
    yield library.svmf_emulation_launch_error
    library.svmf_emulation_launch_error(0)


def test_a_failed_launch_names_the_op(launch_error):
    launch_error(9)
    with pytest.raises(
        RuntimeError, match=r"vmf_kl_uniform: the CUDA launch failed: invalid configuration"
    ):
        emulated.vmf_kl_uniform(torch.ones(3), 5)
    with pytest.raises(RuntimeError, match=r"vmf_rsample_kl: the CUDA launch failed"):
        emulated.vmf_rsample_kl(vectors(3, 4), torch.ones(3), SEED, (), 0, True)


@pytest.mark.parametrize("error", [98, 209, 218, 222])
def test_a_device_without_code_is_named_beside_what_was_built(launch_error, error):
    launch_error(error)
    with pytest.raises(
        RuntimeError,
        match=r"vmf_entropy: the CUDA launch failed: .*svmf was built for 8\.0 9\.0\+PTX, this "
        r"device is 6\.1: rebuild with TORCH_CUDA_ARCH_LIST=6\.1",
    ):
        emulated.vmf_entropy(torch.ones(3), 5)


def test_a_gpu_without_memory_raises_torchs_own_error(library):
    words = "CUDA out of memory. Tried to allocate 2.00 GiB."
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 2\.00 GiB"):
        emulated._fail_allocation(words)
    # Before torch 2.13 there are no words.
    with pytest.raises(torch.OutOfMemoryError, match=r"a tensor of shape \[7\]"):
        emulated._fail_allocation("")


def test_other_errors_of_an_allocation_keep_their_words(library):
    with pytest.raises(RuntimeError, match="CUDA error: device-side assert triggered") as caught:
        emulated._fail_allocation("CUDA error: device-side assert triggered")
    assert not isinstance(caught.value, torch.OutOfMemoryError)


def test_a_cpu_without_memory_says_what_torch_said(library):
    loc, kappa = vectors(1, 4), torch.ones(1)
    for space in (cpu, emulated):
        with pytest.raises(RuntimeError, match=r"svmf: no memory for a tensor of shape \[1099.*:"):
            space.vmf_rsample(loc, kappa, SEED, (2**40,), 0, False)
