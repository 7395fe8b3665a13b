# SPDX-License-Identifier: MIT
"""Random calls of torch.ops.svmf.* with arguments of any form, as a program would make them that
knows the ops from their schemas alone: whatever comes, memory stays whole and an error names the
op."""

import math

import torch
from fuzz import values
from fuzz.checks import require_documented
from fuzz.values import Chance
from torch import Tensor

PUBLIC_OPS = tuple(
    schema.name.removeprefix("svmf::")
    for schema in torch._C._jit_get_all_schemas()
    if schema.name.startswith("svmf::")
)


def _tensor(
    chance: Chance, dtype: torch.dtype, rows: tuple[int, ...], dim: int, name: str
) -> Tensor:
    """Mostly what the argument's name asks for; one time in six something else."""
    if name == "seed":
        count = 1 if not chance.one_in(6) else chance.pick((0, 2))
        return torch.full((count,), chance.seed(), dtype=torch.int64)
    if chance.one_in(12):
        dtype = chance.pick((*values.DTYPES, torch.int64, torch.complex128))
    if chance.one_in(12):
        rows = tuple(chance.pick((0, 1, 2, 5)) for _ in range(chance.random.randrange(3)))
    floating = dtype if dtype in values.DTYPES else torch.float32
    if name in ("loc", "loc1", "loc2", "x", "value", "z", "grad", "grad_z", "features"):
        made = values.directions(chance, (*rows, dim), floating)
    elif name == "state":
        made = 2 * torch.rand(chance.pick((2, 2, 2, 0, 3)), *rows).to(floating)
    else:
        made = values.concentrations(chance, rows, floating)
    return values.laid_out(chance, made.to(dtype))


def _number(chance: Chance, name: str) -> int | float | bool | list[int]:
    if name == "dim":
        return chance.pick((2, 3, 5, 10, 77, 1000, 10**6, 1, 0, -5, 2**31, 2**62))
    if name == "gradient":
        return chance.pick((0, 1, 0, 1, 2, -1, 77))
    if name == "sample_shape":
        return chance.pick(([], [], [2], [0], [-1]))
    if name == "offset":
        return chance.pick((0.0, 1.0, 1.0, -1.0, math.nan))
    if name == "order":
        return chance.pick((0.0, 0.5, 3.0, 17.3, 1e6, -1.0, math.inf, math.nan))
    return chance.one_in(2)


def random_raw_call(chance: Chance) -> str:
    """One overload of one op with arguments for its schema."""
    name = chance.pick(PUBLIC_OPS)
    packet = getattr(torch.ops.svmf, name)
    overload = getattr(packet, chance.pick(packet.overloads()))
    dtype, dim = chance.pick(values.DTYPES), chance.pick(values.SMALL_DIMS)
    rows = tuple(chance.pick((0, 1, 2, 5, 70)) for _ in range(chance.random.randrange(3)))
    torch.set_num_threads(chance.pick((1, 2)))
    given = []
    for a in overload._schema.arguments:
        kind = str(a.type)
        if kind == "Optional[Tensor]":
            given.append(_tensor(chance, dtype, rows, dim, a.name) if chance.one_in(2) else None)
        elif kind == "Tensor":
            given.append(_tensor(chance, dtype, rows, dim, a.name))
        elif "Generator" in kind:
            given.append(None)
        else:
            given.append(_number(chance, a.name))
    try:
        overload(*given)
    except Exception as error:
        require_documented(error, name)
    return f"{name}.raw dtype={dtype} rows={rows} dim={dim}"
