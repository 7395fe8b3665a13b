# SPDX-License-Identifier: MIT
"""The ops as the fuzzer sees them: which arguments they take, how they are called, and which rows
of their results must be nan, finite, or of unit length."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from fuzz import values
from fuzz.checks import eps, require, rows_first
from fuzz.values import Chance
from torch import Tensor

import svmf.functional as F
from svmf import _inventory as inventory

OF_FAMILIES = {name: f.parameter for f in inventory.FAMILIES for name in f.samplers}
SAMPLERS = (*inventory.SAMPLERS, inventory.FEATURE_SAMPLER, *OF_FAMILIES)


@dataclass
class Setting:
    """What a call takes beside its tensors."""

    dtype: torch.dtype
    dim: int
    batch: tuple[int, ...]
    order: float = 0.5
    sample_shape: tuple[int, ...] = ()
    gradient: str = "pathwise"
    seed: int = 0

    @property
    def rows(self) -> int:
        return math.prod(self.batch)


# What the results must be, given the arguments as contiguous tensors of float32 or float64.
Verify = Callable[[Setting, list[Tensor], list[Tensor]], None]


@dataclass(frozen=True)
class Op:
    name: str
    kinds: tuple[str, ...]  # of the arguments; a "vector" has m columns
    call: Callable[[Setting, list[Tensor]], list[Tensor]]  # results [rows, ...]
    verify: Verify
    differentiable: tuple[bool, ...]
    twice: bool = True
    once: tuple[int, ...] = ()  # the arguments in which a derivative is not differentiated again

    def setting(self, chance: Chance) -> Setting:
        dtype = chance.pick(values.DTYPES)
        has_vectors = "vector" in self.kinds
        dim = values.dimension(chance)
        batch = values.batch_shape(chance, dim if has_vectors else 1)
        setting = Setting(dtype, dim, batch, seed=chance.seed())
        setting.order = chance.pick((0.0, 0.5, 1.0, 1.5, chance.log_uniform(1e-3, 1e6)))
        if self.name in SAMPLERS:
            room = values.ELEMENTS // max(1, setting.rows * dim)
            shapes = [s for s in ((), (), (1,), (3,), (2, 2), (0,), (9,)) if math.prod(s) <= room]
            setting.sample_shape = chance.pick(shapes or [()])
            setting.gradient = chance.pick(("pathwise", "rejection"))
        return setting

    def arguments(self, chance: Chance, setting: Setting) -> list[Tensor]:
        return [argument(chance, setting, kind) for kind in self.kinds]


def argument(chance: Chance, setting: Setting, kind: str) -> Tensor:
    makers = {
        "kappa": values.concentrations,
        "order": values.orders,
        "mean_length": values.fractions,
        "rho": values.fractions,
        "cosine": values.cosines,
        "vector": values.directions,
        "raw": values.raw_concentrations,
    }
    shape = (*setting.batch, setting.dim) if kind == "vector" else setting.batch
    return makers[kind](chance, shape, setting.dtype)


def _column(result: Tensor) -> Tensor:
    return result.flatten()


def _good_kappa(kappa: Tensor) -> Tensor:
    return (kappa >= 0) & (kappa <= values.LARGEST_KAPPA[kappa.dtype])


def _bad_kappa(kappa: Tensor) -> Tensor:
    return kappa.isnan() | (kappa < 0)


def _good_rho(rho: Tensor) -> Tensor:
    return (rho >= 0) & (rho <= 1 - eps(rho.dtype))


def _unit_rows(vectors: Tensor, setting: Setting) -> Tensor:
    norm = torch.linalg.vector_norm(vectors.double(), dim=-1)
    return (norm - 1).abs() <= 4 * eps(setting.dtype)


def _finite_rows(vectors: Tensor) -> Tensor:
    return vectors.isfinite().all(-1)


def _nan_where(result: Tensor, rows: Tensor, what: str) -> None:
    require(bool(result[rows.flatten()].isnan().all()), f"{what}: a bad row is not nan")


def _finite_where(result: Tensor, rows: Tensor, what: str) -> None:
    require(bool(result[rows.flatten()].isfinite().all()), f"{what}: a good row is not finite")


def _of_kappa(low: float, high: float) -> Verify:
    def verify(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
        (kappa,), (result,) = arguments, results
        _nan_where(result, _bad_kappa(kappa), "kappa")
        good = _good_kappa(kappa).flatten()
        _finite_where(result, good, "kappa")
        inside = (result >= low) & (result <= high)
        require(bool(inside.flatten()[good].all()), f"a value outside [{low}, {high}]")

    return verify


def _of_rho(low: float, high: float) -> Verify:
    def verify(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
        (rho,), (result,) = arguments, results
        _nan_where(result, ~((rho >= 0) & (rho < 1)), "rho")
        good = _good_rho(rho).flatten()
        _finite_where(result, good, "rho")
        inside = (result >= low) & (result <= high)
        require(bool(inside.flatten()[good].all()), f"a value outside [{low}, {high}]")

    return verify


def _verify_bessel(logarithm: bool) -> Verify:
    def verify(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
        *order, x = arguments
        nu = order[0] if order else torch.full_like(x, setting.order)
        (result,) = results
        _nan_where(result, _bad_kappa(x) | _bad_kappa(nu), "order, x")
        small = eps(x.dtype) ** 4
        good = _good_kappa(x) & (x > small) & (nu >= 0) & (nu <= 1e6) & ((nu == 0) | (nu > small))
        _finite_where(result, good, "order, x")
        if not logarithm:
            require(bool((result.flatten()[good.flatten()] >= 0).all()), "a negative ratio")

    return verify


def _verify_concentration(_: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    (length,), (result,) = arguments, results
    _nan_where(result, ~((length >= 0) & (length <= 1)), "mean_length")
    good = ((length >= 0) & (length < 1)).flatten()
    require(bool((result.flatten()[good] >= 0).all()), "a negative concentration")


def _log_density(setting: Setting, w: Tensor, kappa: Tensor) -> Tensor:
    """The log density of w relative to its mode."""
    w, kappa, half = w.double(), kappa.double(), (setting.dim - 3) / 2
    mode = kappa / (abs(half) + torch.hypot(kappa, torch.full_like(kappa, half)))
    mode = torch.where(kappa == 0, 0.0, mode) if half > 0 else torch.ones_like(kappa)

    def log_density(x: Tensor) -> Tensor:
        return (
            torch.special.xlogy(torch.full_like(x, max(half, 0.0)), (1 - x) * (1 + x)) + kappa * x
        )

    return log_density(w) - log_density(mode)


def _verify_pathwise(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    (w, kappa), (result,) = arguments, results
    outside = ~(w.abs() <= 1 + 16 * eps(w.dtype))
    _nan_where(result, _bad_kappa(kappa) | outside, "w, kappa")
    # Where the density is below e^-40 of its mode no accuracy is promised, and the value may
    # overflow.
    good = _good_kappa(kappa) & (w.abs() <= 1) & (_log_density(setting, w, kappa) > -40)
    _finite_where(result, good, "w, kappa")
    require(bool((result.flatten()[good.flatten()] >= 0).all()), "a negative derivative")


def _verify_kl(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    (loc1, kappa1, loc2, kappa2), (result,) = arguments, results
    _nan_where(result, _bad_kappa(kappa1) | _bad_kappa(kappa2), "kappa1, kappa2")
    good = _unit_rows(loc1, setting) & _unit_rows(loc2, setting)
    good &= _good_kappa(kappa1) & _good_kappa(kappa2)
    _finite_where(result, good, "vmf_kl")
    # Vectors that are unit up to rounding: the KL is right up to rounding times kappa.
    room = 32 * eps(setting.dtype) * (1 + kappa1 + kappa2)
    require(bool((result.flatten() >= -room.flatten())[good.flatten()].all()), "a negative KL")


def _verify_log_prob(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    (value, loc, kappa), (result,) = arguments, results
    nan = value.isnan().any(-1) | loc.isnan().any(-1) | _bad_kappa(kappa)
    _nan_where(result, nan, "value, loc, kappa")
    good = _unit_rows(value, setting) & _unit_rows(loc, setting) & _good_kappa(kappa)
    _finite_where(result, good, "value, loc, kappa")


def _verify_cauchy_log_prob(
    setting: Setting, arguments: list[Tensor], results: list[Tensor]
) -> None:
    (value, loc, rho), (result,) = arguments, results
    nan = value.isnan().any(-1) | loc.isnan().any(-1) | ~((rho >= 0) & (rho < 1))
    _nan_where(result, nan, "value, loc, rho")
    good = _unit_rows(value, setting) & _unit_rows(loc, setting) & _good_rho(rho)
    _finite_where(result, good, "value, loc, rho")


def _verify_power_log_prob(
    setting: Setting, arguments: list[Tensor], results: list[Tensor]
) -> None:
    (value, loc, kappa), (result,) = arguments, results
    nan = value.isnan().any(-1) | loc.isnan().any(-1) | _bad_kappa(kappa)
    _nan_where(result, nan, "value, loc, kappa")
    good = _unit_rows(value, setting) & _unit_rows(loc, setting) & _good_kappa(kappa)
    good &= (value.double() + loc.double()).square().sum(-1) > 0  # -inf at the antipode
    _finite_where(result, good, "value, loc, kappa")


def _verify_householder(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    (x, loc), (result,) = arguments, results
    nan = (loc.isnan().any(-1) | x.isnan().any(-1)).flatten()
    require(bool(result[nan].isnan().any(-1).all()), "a nan was lost")
    good = (_unit_rows(loc, setting) & _unit_rows(x, setting)).flatten()
    _finite_where(result, good, "x, loc")
    length = torch.linalg.vector_norm(result[good].double(), dim=-1)
    require(bool(((length - 1).abs() <= 64 * eps(setting.dtype)).all()), "a length changed")


def _verify_sample(
    setting: Setting, arguments: list[Tensor], results: list[Tensor], most: float = math.inf
) -> None:
    (loc, kappa), z = arguments, results[0]
    if z.numel() == 0:
        return
    bad = ~((kappa >= 0) & (kappa < most)) | ~_finite_rows(loc)
    _nan_where(z, bad, "a sample")
    good = (_unit_rows(loc, setting) & (kappa >= 0) & (kappa < most)).flatten()
    vectors = z[good].reshape(-1, setting.dim)
    length = torch.linalg.vector_norm(vectors.double(), dim=-1)
    require(bool(((length - 1).abs() <= 64 * eps(setting.dtype)).all()), "a sample of another norm")
    in_domain = _good_kappa(kappa) & (kappa < most)
    for other in results[1:]:
        _finite_where(other, in_domain, "KL or log_ratio")


def _verify_power_sample(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    """The law forms nu + kappa and kappa again from that: in the last octave it may overflow."""
    (loc, kappa), z = arguments, results[0]
    inside = ~((kappa > torch.finfo(kappa.dtype).max / 2) & kappa.isfinite()).flatten()
    if z.numel():
        rows = [t[inside] if t.shape[:1] == inside.shape else t for t in results]
        flat = [loc.reshape(-1, setting.dim)[inside], kappa.flatten()[inside]]
        _verify_sample(setting, flat, rows)


def _verify_cauchy_sample(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    _verify_sample(setting, arguments, results, most=1.0)


def _verify_features(setting: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    """Every finite row has a direction; raw = -inf is kappa = offset."""
    (features, raw), z = arguments, results[0]
    if z.numel() == 0:
        return
    bad = raw.isnan() | (raw == torch.inf) | ~_finite_rows(features)
    _nan_where(z, bad, "a sample")
    good = (_finite_rows(features) & (raw <= values.LARGEST_KAPPA[raw.dtype])).flatten()
    length = torch.linalg.vector_norm(z[good].reshape(-1, setting.dim).double(), dim=-1)
    require(bool(((length - 1).abs() <= 64 * eps(setting.dtype)).all()), "a sample of another norm")
    for other in results[1:]:
        _finite_where(other, raw <= values.LARGEST_KAPPA[raw.dtype], "KL")


def _function_of_kappa(op: inventory.OfKappa) -> Op:
    public = inventory.is_public(op.name)
    call = getattr(F, op.name) if public else getattr(torch.ops.svmf, op.name).default
    verify = {
        "mean_length": _verify_concentration,
        "rho": _of_rho(op.low, op.high),
        "kappa": _of_kappa(op.low, op.high),
    }[op.argument]
    return Op(
        op.name,
        (op.argument,),
        lambda s, t: [_column(call(t[0], s.dim))],
        verify,
        (op.is_differentiable,),
        twice=public,
    )


def _bessel(name: str, order_tensor: bool) -> Op:
    function = getattr(F, name)
    logarithm = name.startswith("log")
    verify = _verify_bessel(logarithm)
    in_x = name not in inventory.BESSEL_WITHOUT_SLOPE
    if order_tensor:
        return Op(
            name, ("order", "kappa"), lambda s, t: [_column(function(*t))], verify,
            (name in inventory.BESSEL_IN_ORDER, in_x), twice=in_x, once=(0,),
        )  # fmt: skip
    return Op(
        name, ("kappa",), lambda s, t: [_column(function(s.order, t[0]))], verify, (in_x,),
        twice=in_x,
    )  # fmt: skip


VERIFY_ROWS = {
    "vmf_kl": _verify_kl,
    "vmf_log_prob": _verify_log_prob,
    "spherical_cauchy_log_prob": _verify_cauchy_log_prob,
    "power_spherical_log_prob": _verify_power_log_prob,
    "householder": _verify_householder,
}


def _of_vectors(op: inventory.OfRows) -> Op:
    function = getattr(F, op.name)
    columns = op.results == ("vector",)

    def call(setting: Setting, tensors: list[Tensor]) -> list[Tensor]:
        result = function(*tensors)
        require(result.numel() == setting.rows * (setting.dim if columns else 1), "another shape")
        return [result.reshape(setting.rows, setting.dim) if columns else result.flatten()]

    return Op(op.name, op.arguments, call, VERIFY_ROWS[op.name], (True,) * len(op.arguments))


def _sampler(name: str) -> Op:
    def call(setting: Setting, tensors: list[Tensor]) -> list[Tensor]:
        generator = torch.Generator().manual_seed(setting.seed)
        has_choice = name.startswith("vmf") and not name.endswith("correction")
        options = {"gradient": setting.gradient} if has_choice else {}
        made = getattr(F, name)(*tensors, setting.sample_shape, generator=generator, **options)
        z, *others = made if isinstance(made, tuple) else (made,)
        shape = (*setting.sample_shape, *setting.batch)
        require(z.shape == (*shape, setting.dim), f"samples of shape {list(z.shape)}")
        samples = math.prod(setting.sample_shape)
        if setting.rows * samples == 0:
            return [torch.empty(setting.rows, 0, dtype=setting.dtype)]
        if "_rsample_kl" in name:
            return [rows_first(z, setting.rows, samples), _column(others[0])]
        return [rows_first(t, setting.rows, samples) for t in (z, *others)]

    if name == inventory.FEATURE_SAMPLER:
        return Op(name, ("vector", "raw"), call, _verify_features, (True, True), twice=False)
    parameter = OF_FAMILIES.get(name, "kappa")
    verify = _verify_sample
    if name in OF_FAMILIES:
        verify = _verify_cauchy_sample if parameter == "rho" else _verify_power_sample
    return Op(name, ("vector", parameter), call, verify, (True, True), twice=False)


def _nothing(_: Setting, arguments: list[Tensor], results: list[Tensor]) -> None:
    """For ops whose results are checked where they are used."""


OPS: tuple[Op, ...] = (
    *(
        _bessel(name, t)
        for name in filter(inventory.is_public, inventory.BESSEL)
        for t in (False, True)
    ),
    Op(
        "_iv_ratio_grad", ("kappa",),
        lambda s, t: [_column(torch.ops.svmf._iv_ratio_grad.default(s.order, t[0]))], _nothing,
        (True,), twice=False,
    ),
    *(_function_of_kappa(op) for op in inventory.OF_KAPPA),
    Op(
        "vmf_pathwise_derivative", ("cosine", "kappa"),
        lambda s, t: [_column(F.vmf_pathwise_derivative(*t, s.dim))], _verify_pathwise,
        (True, True),
    ),
    *(_of_vectors(op) for op in inventory.OF_ROWS if inventory.is_public(op.name)),
    *(_sampler(name) for name in SAMPLERS),
)  # fmt: skip
