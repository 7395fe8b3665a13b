# SPDX-License-Identifier: MIT
"""The manners of a scikit-learn estimator, without scikit-learn.

Parameters are those of the constructor and are checked by `fit`, so that `clone`, Pipeline and
GridSearchCV work. Results follow the data: tensors for tensors, NumPy arrays for everything else.
"""

import inspect
import math
import sys
from typing import Any, TypeVar

import torch
from torch import Tensor

from svmf.distributions._data import as_tensor
from svmf.distributions._fit import are_weights, scaled_weights
from svmf.mixture.rows import Rows, SparseRows, read_rows

Self = TypeVar("Self", bound="Estimator")


class Estimator:
    """Base of the estimators on the sphere."""

    _kind: str  # scikit-learn's word for the type of estimator
    normalize: bool
    n_features_in_: int

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__).parameters
        return {name: p.default for name, p in signature.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor; `deep` is for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets arguments of the constructor; `fit` checks them."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                    f"{sorted(known)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = []
        for name, default in self._defaults().items():
            value = getattr(self, name)
            tensor = isinstance(value, Tensor)
            shown = f"tensor of shape {list(value.shape)}" if tensor else repr(value)
            if shown != repr(default):
                changed.append(f"{name}={shown}")
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Called by scikit-learn alone, which is therefore there."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=False),
            transformer_tags=None,
            input_tags=InputTags(sparse=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted(
                f"{type(self).__name__}: call `fit` first, this instance is not fitted"
            )

    def _read(self, X: Any, method: str, *, fitting: bool = False) -> Rows:
        """The rows of `X`, with the number of columns, and the columns' names, of the fit."""
        name = f"{type(self).__name__}.{method}"
        if not fitting:
            self._require_fitted()
            self._check_columns(X, name)
        rows = read_rows(X, name=name, normalize=self.normalize)
        if fitting:
            self.n_features_in_ = rows.shape[1]
            names = _column_names(X)
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        return rows

    def _check_columns(self, X: Any, name: str) -> None:
        shape = getattr(X, "shape", None)
        if shape is not None and len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"{name}: expected `X` of shape [n, {self.n_features_in_}], as in `fit`; "
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        fitted, given = getattr(self, "feature_names_in_", None), _column_names(X)
        if fitted is not None and given is not None and list(fitted) != list(given):
            raise ValueError(
                f"{name}: expected the columns of `fit`. The feature names should match those that "
                f"were passed during fit: {list(fitted)[:3]}..., got {list(given)[:3]}..."
            )

    def _expect(self, condition: bool, parameter: str, expected: str) -> None:
        if not condition:
            raise ValueError(
                f"{type(self).__name__}: expected `{parameter}` {expected}, "
                f"got {getattr(self, parameter)!r}"
            )

    def _expect_whole(self, parameter: str) -> None:
        value = getattr(self, parameter)
        whole = hasattr(value, "__index__") and not isinstance(value, bool)
        self._expect(whole and value >= 1, parameter, ">= 1, a whole number")

    def _enough_rows(self, rows: Rows, k: int, parameter: str) -> None:
        if rows.shape[0] < k:
            raise ValueError(
                f"{type(self).__name__}.fit: expected at least {parameter} = {k} observations, "
                f"got {rows.shape[0]} (n_samples = {rows.shape[0]})"
            )

    def _checked_weight(self, sample_weight: Any | None, rows: Rows) -> Tensor | None:
        """Weights in float64 with mean 1; None where all are equal."""
        if sample_weight is None:
            return None
        n, name = rows.shape[0], f"{type(self).__name__}.fit"
        if not isinstance(sample_weight, Tensor):
            sample_weight = as_tensor(sample_weight, name=name, argument="sample_weight")
        weight = sample_weight.expand(n) if sample_weight.dim() == 0 else sample_weight
        if weight.shape != (n,):
            raise ValueError(
                f"{name}: expected `sample_weight` of shape [{n}], got {list(weight.shape)}"
            )
        if not are_weights(weight) or not bool((weight > 0).any()):
            raise ValueError(
                f"{name}: expected `sample_weight` >= 0, finite, with a sum that is not zero"
            )
        weight = scaled_weights(weight, rows.device)
        return weight * (n / weight.sum())


def number(value: Any) -> float:
    """A parameter as a number; nan, which fulfils no condition, if it is none."""
    try:
        return math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def like_data(result: Tensor, X: Any) -> Any:
    """A tensor for a tensor, an array for everything else."""
    return result if isinstance(X, Tensor) else result.numpy()


def in_chunks(rows: Rows, function: Any) -> Tensor:
    return torch.cat([function(chunk) for chunk in rows.chunks()])


def _column_names(X: Any) -> Any:
    """The columns of a data frame if they are strings, as scikit-learn keeps them."""
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, (Tensor, SparseRows)):
        return None
    import numpy

    names = numpy.asarray(columns, dtype=object)
    return names if all(isinstance(name, str) for name in names) else None


def _not_fitted(message: str) -> Exception:
    """RuntimeError; scikit-learn's NotFittedError as well if it is in use."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return RuntimeError(message)
    both = type("NotFittedError", (exceptions.NotFittedError, RuntimeError), {})
    return both(message)
