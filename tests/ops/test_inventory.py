# SPDX-License-Identifier: MIT
"""Every op that is registered is complete: it stands in both inventories, and has a fake kernel, a
batching rule, a derivative or a reason, a kernel for every device, a reference and test cases."""

import re

import pytest
import torch
from fuzz.ops import OPS as FUZZED
from fuzz.raw_calls import PUBLIC_OPS as FUZZED_RAW
from helpers.op_cases import CASES
from helpers.paths import PROJECT

import svmf.functional as F
from svmf import _inventory as inventory
from svmf import reference

SCHEMAS = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("svmf::")]
OVERLOADS = [
    (s.name.removeprefix("svmf::"), f"{s.name}.{s.overload_name}".removesuffix("."))
    for s in SCHEMAS
]
OF_DEVICES = [pair for pair in OVERLOADS if pair[0] not in inventory.HOST_ONLY]
SAMPLERS = {
    *inventory.SAMPLERS,
    inventory.FEATURE_SAMPLER,
    *(n for f in inventory.FAMILIES for n in f.samplers),
}
CSRC = (PROJECT / "csrc" / "common" / "ops.inc").read_text()


def has_kernel(overload: str, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(overload, key)


def has_fake_kernel(overload: str) -> bool:
    entry = torch._library.simple_registry.singleton.find(overload)
    return entry.fake_impl.kernel is not None


def test_the_python_inventory_names_every_schema_once() -> None:
    assert sorted(inventory.NAMES) == sorted({name for name, _ in OVERLOADS})


def test_the_cpp_inventory_names_the_same() -> None:
    of_kappa = re.findall(r"^SVMF_KAPPA_OP\((\w+),", CSRC, re.MULTILINE)
    of_rho = re.findall(r"^SVMF_RHO_OP\((\w+),", CSRC, re.MULTILINE)
    of_power = re.findall(r"^SVMF_POWER_OP\((\w+),", CSRC, re.MULTILINE)
    bessel = re.findall(r"^SVMF_BESSEL_OP\((\w+),", CSRC, re.MULTILINE)
    others = re.findall(r'^SVMF_OP\("(\w+)"', CSRC, re.MULTILINE)
    assert sorted(bessel) == sorted(inventory.BESSEL)
    inverse = {op.name for op in inventory.OF_KAPPA if op.argument == "mean_length"}
    assert {*of_kappa, *of_rho, *of_power} == {op.name for op in inventory.OF_KAPPA} - inverse
    assert set(of_rho) == {op.name for op in inventory.OF_KAPPA if op.argument == "rho"}
    # SVMF_OP, and what is made from it, is registered for the CPU and for CUDA alike.
    assert {*of_kappa, *of_rho, *of_power, *bessel, *others} == {name for name, _ in OF_DEVICES}


@pytest.mark.parametrize(("name", "overload"), OF_DEVICES, ids=[o for _, o in OF_DEVICES])
def test_op_is_complete(name: str, overload: str) -> None:
    assert has_kernel(overload, "CPU"), "no kernel for the CPU"
    assert has_fake_kernel(overload), "no fake kernel"
    assert has_kernel(overload, "FuncTorchBatched"), "no batching rule"
    assert has_kernel(overload, "Autograd"), "neither a derivative nor a reason for its absence"
    assert name in FUZZED_RAW, "not among the raw calls of the fuzzer"
    if inventory.is_public(name):
        assert hasattr(F, name), "no function"
        assert name in F.__all__, "not a name of svmf.functional"
        assert hasattr(reference, name), "no reference"
        assert name in reference.__all__, "not a name of svmf.reference"
        assert name in {op.name for op in FUZZED}, "not fuzzed"
        tested = {case.op.name().removeprefix("svmf::") for case in CASES}
        assert name in SAMPLERS or {name, f"{name}.tensor"} & tested, "no test case"
    else:
        # A part of a public op is reached through its derivatives, and tested with them.
        assert any(name[1:].startswith(public) for public in F.__all__), "part of no public op"


@pytest.mark.parametrize("name", inventory.HOST_ONLY)
def test_host_ops_say_why_they_have_no_more(name: str) -> None:
    assert inventory.HOST_ONLY[name]
    assert (name, f"svmf::{name}") in OVERLOADS


def test_a_slope_is_an_op_or_a_reason() -> None:
    names = {op.name for op in inventory.OF_KAPPA}
    for op in inventory.OF_KAPPA:
        assert op.slope.removeprefix("-") in names or op.slope in (
            inventory.THIRD,
            inventory.INVERSE,
        )
