# SPDX-License-Identifier: MIT
"""One random call of an op: right answer and relations, or one mistake and its error.

Relations need no second implementation: the same values in another layout, on another number of
threads, from several Python threads at once, with one row changed, or the first rows alone must
give the same bits in the rows that are the same. Half types must be float32, rounded once.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import replace

import torch
from fuzz import values
from fuzz.checks import Finding, require, require_documented, require_same
from fuzz.ops import OPS, SAMPLERS, Op, Setting, argument
from fuzz.values import Chance
from torch import Tensor


def run(
    op: Op, setting: Setting, tensors: list[Tensor], wanted: list[bool], weights: int
) -> list[Tensor]:
    """The results of a call, and the gradients of a weighted sum of them, each [rows, ...]."""
    leaves = [t.detach().requires_grad_(g) for t, g in zip(tensors, wanted, strict=True)]
    results = op.call(setting, leaves)
    # A result may be independent of what needs a gradient: the KL of the mean directions.
    connected = [r for r in results if r.requires_grad]
    if not connected:
        return [r.detach() for r in results]
    generator = torch.Generator().manual_seed(weights)
    loss = torch.zeros((), dtype=setting.dtype)
    for result in connected:
        # Weights by column, so that a row's weights do not depend on the other rows.
        columns = result.shape[1:]
        loss = loss + (result * torch.randn(columns, generator=generator).to(result)).sum()
    needed = [leaf for leaf in leaves if leaf.requires_grad]
    gradients = torch.autograd.grad(loss, needed, allow_unused=True)
    for leaf, gradient in zip(needed, gradients, strict=True):
        if gradient is not None:
            require(gradient.shape == leaf.shape, f"a gradient of shape {list(gradient.shape)}")
    rows = setting.rows
    flat = [g.reshape(rows, -1) if rows else g.reshape(0, 1) for g in gradients if g is not None]
    return [r.detach() for r in results] + flat


def call_op(chance: Chance, op: Op) -> str:
    """A call with arguments of the right form and any values."""
    setting = op.setting(chance)
    base = op.arguments(chance, setting)
    if chance.one_in(4):
        i = chance.random.randrange(len(base))
        base[i] = values.repeated(chance, base[i], op.kinds[i] == "vector")
    tensors = [values.laid_out(chance, t) for t in base]
    wanted = [chance.one_in(2) and d for d in op.differentiable]
    weights = chance.random.getrandbits(60)
    threads = chance.pick((1, 1, 2, 3))
    torch.set_num_threads(threads)
    results = run(op, setting, tensors, wanted, weights)

    plain = [t.clone(memory_format=torch.contiguous_format) for t in base]
    values_only = results[: len(results) - _gradients(op, setting, results)]
    _verify(op, setting, plain, values_only)
    relation = chance.pick(RELATIONS)
    relation(chance, op, setting, plain, wanted, weights, results)
    if op.twice and chance.one_in(10):
        _differentiate_twice(op, setting, plain)
    return f"{op.name} {relation.__name__} {setting}"


def _gradients(op: Op, setting: Setting, results: list[Tensor]) -> int:
    """How many of the results are gradients."""
    forward = 2 if op.name.endswith(("_rsample_kl", "_with_correction", "_from_features")) else 1
    return max(0, len(results) - forward)


def _verify(op: Op, setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    if setting.dtype not in values.HALF_TYPES:
        op.verify(setting, arguments, results)
        return
    wide = replace(setting, dtype=torch.float32)
    with torch.no_grad():
        exact = op.call(wide, [t.float() for t in arguments])
    require_same(results, [r.to(setting.dtype) for r in exact], "float32, rounded once")
    op.verify(setting, [t.float() for t in arguments], exact)


def contiguous(chance, op, setting, plain, wanted, weights, results) -> None:
    require_same(run(op, setting, plain, wanted, weights), results, "another layout")


def other_threads(chance, op, setting, plain, wanted, weights, results) -> None:
    torch.set_num_threads(1 if torch.get_num_threads() > 1 else chance.pick((2, 3, 4)))
    require_same(run(op, setting, plain, wanted, weights), results, "another number of threads")


def python_threads(chance, op, setting, plain, wanted, weights, results) -> None:
    outcomes: list[list[Tensor] | BaseException] = []

    def work() -> None:
        try:
            outcomes.append(run(op, setting, plain, wanted, weights))
        except BaseException as error:
            outcomes.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        require_same(outcome, results, "from another Python thread")


def one_row_changed(chance, op, setting, plain, wanted, weights, results) -> None:
    """All rows but one keep their bits, forward and backward."""
    if not setting.rows:
        return
    row = chance.random.randrange(setting.rows)
    changed = [t.clone() for t in plain]
    single = replace(setting, batch=(1,))
    for i, kind in enumerate(op.kinds):
        rows = changed[i].view(setting.rows, *([setting.dim] if kind == "vector" else []))
        rows[row] = argument(chance, single, kind)[0]
    others = torch.arange(setting.rows) != row
    again = run(op, setting, changed, wanted, weights)
    same_rows = [t[others] if t.shape[:1] == others.shape else t for t in results]
    require_same(
        [t[others] if t.shape[:1] == others.shape else t for t in again], same_rows,
        f"row {row} changed",
    )  # fmt: skip


def first_rows(chance, op, setting, plain, wanted, weights, results) -> None:
    """A shorter batch has the results of the first rows of the longer one."""
    if setting.rows < 2 or math.prod(setting.sample_shape) != 1:
        return
    count = chance.random.randrange(1, setting.rows)
    flat = [
        t.reshape(setting.rows, *([setting.dim] if kind == "vector" else []))[:count]
        for t, kind in zip(plain, op.kinds, strict=True)
    ]
    short = run(op, replace(setting, batch=(count,)), flat, wanted, weights)
    what = f"the first {count} rows alone"
    require_same(short, [t[:count] for t in results], what)


def without_autograd(chance, op, setting, plain, wanted, weights, results) -> None:
    mode = chance.pick((torch.no_grad, torch.inference_mode))
    with mode():
        values_only = op.call(setting, plain)
    require_same([t.clone() for t in values_only], results[: len(values_only)], mode.__name__)


Relation = Callable[..., None]
RELATIONS: tuple[Relation, ...] = (
    contiguous, other_threads, python_threads, one_row_changed, one_row_changed, first_rows,
    without_autograd,
)  # fmt: skip


def _differentiate_twice(op: Op, setting: Setting, plain: list[Tensor]) -> None:
    """It runs, and gives second derivatives of the right shape."""
    if setting.rows * setting.dim > values.ELEMENTS or setting.rows > 500:
        return
    wanted = [d and i not in op.once for i, d in enumerate(op.differentiable)]
    leaves = [t.clone().requires_grad_(d) for t, d in zip(plain, wanted, strict=True)]
    needed = [leaf for leaf in leaves if leaf.requires_grad]
    loss = sum(r.sum() for r in op.call(setting, leaves))
    first = torch.autograd.grad(loss, needed, create_graph=True)
    connected = [g.sum() for g in first if g.requires_grad]
    if not connected:
        return
    second = torch.autograd.grad(sum(connected), needed, allow_unused=True)
    for leaf, gradient in zip(needed, second, strict=True):
        require(gradient is None or gradient.shape == leaf.shape, "second derivative's shape")


def call_with_mistake(chance: Chance, op: Op) -> str:
    """One argument of the wrong form: the error says so and names the op."""
    setting = op.setting(chance)
    tensors = op.arguments(chance, setting)
    mistake = chance.pick(MISTAKES)
    mistake(chance, op, setting, tensors)
    try:
        op.call(setting, tensors)
    except Finding:
        pass  # the shapes of the results are not those of the setting: the mistake was harmless
    except Exception as error:
        require_documented(error, op.name)
    return f"{op.name} mistake {mistake.__name__} {setting}"


def wrong_dtype(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    dtypes = (torch.int64, torch.bool, torch.complex64, torch.uint8, *values.DTYPES)
    i = chance.random.randrange(len(tensors))
    tensors[i] = torch.ones(tensors[i].shape, dtype=chance.pick(dtypes))


def wrong_shape(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    i = chance.random.randrange(len(tensors))
    shape = [chance.pick((0, 1, 2, 3, 6)) for _ in range(chance.random.randrange(4))]
    tensors[i] = torch.ones(shape, dtype=setting.dtype)


def wrong_device(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    if len(tensors) > 1:
        i = chance.random.randrange(len(tensors))
        tensors[i] = tensors[i].to("meta")


def not_a_tensor(chance: Chance, op: Op, setting: Setting, tensors: list) -> None:
    i = chance.random.randrange(len(tensors))
    tensors[i] = chance.pick((None, "kappa", 1.0, [1.0, 2.0], {}))


def wrong_dim(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    if "vector" not in op.kinds:
        setting.dim = chance.pick((1, 0, -1, -(2**63), 2**31, 2**63 - 1, 2**64, 2.5, "3", None))


def wrong_order(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    setting.order = chance.pick((-0.5, -1e-300, math.nan, math.inf, -math.inf, 1e308, 1e12))


def wrong_sample_shape(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    if op.name in SAMPLERS:
        shapes = ((-1,), (2, -3), (2**62, 2**62), (2**40,), ("a",), (1.5,), (None,), 3.5, None)
        setting.sample_shape = chance.pick(shapes)


def wrong_gradient(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    setting.gradient = chance.pick(("score", "", None, 0, []))


def sparse(chance: Chance, op: Op, setting: Setting, tensors: list[Tensor]) -> None:
    if len(tensors) == 1 and tensors[0].dim():
        tensors[0] = tensors[0].to_sparse()


MISTAKES = (
    wrong_dtype, wrong_shape, wrong_device, not_a_tensor, wrong_dim, wrong_order,
    wrong_sample_shape, wrong_gradient, sparse,
)  # fmt: skip


def random_op_call(chance: Chance) -> str:
    op = chance.pick(OPS)
    return call_with_mistake(chance, op) if chance.one_in(6) else call_op(chance, op)
