# SPDX-License-Identifier: MIT
"""The help of an option with its default, which may differ between the models. No torch."""

from typing import Any

from svmf.training.model_table import KINDS, MODELS
from svmf.training.options import Option


def help_with_default(item: Option) -> str:
    only = item.said.only
    about = f"{KINDS[only]}: {item.said.help}" if only else item.said.help
    # argparse reads a percent sign as the start of a format
    return f"{about} ({_default_text(item)})".replace("%", "%%")


def _default_text(item: Option) -> str:
    """`default X`, and the models where it is another."""
    values: dict[Any, list[str]] = {}
    for name, spec in MODELS.items():
        if item.said.only in (None, spec.kind):
            values.setdefault(spec.defaults.get(item.name, item.default), []).append(name)
    (usual, _), *others = sorted(values.items(), key=lambda entry: -len(entry[1]))
    texts = [f"default {_shown(item, usual)}"]
    texts += [f"{', '.join(_families(names))}: {_shown(item, value)}" for value, names in others]
    return "; ".join(texts)


def _families(names: list[str]) -> list[str]:
    """Names of models, those of a whole kind by its short name."""
    shown = list(names)
    for kind, title in KINDS.items():
        members = [name for name, spec in MODELS.items() if spec.kind == kind]
        if set(members) <= set(shown):
            shown = [name for name in shown if name not in members] + [title]
    return shown


def _shown(item: Option, value: Any) -> str:
    if value is None:
        return str(item.said.without)
    return "off" if value is False else f"{value}"
