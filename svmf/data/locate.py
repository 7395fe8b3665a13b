# SPDX-License-Identifier: MIT
"""Where data sets lie on disk: the folder the caller names, then $SVMF_DATA, then the cache that
`svmf download` fills."""

import os
from collections.abc import Sequence
from pathlib import Path

from svmf.errors import DataError


def cache_dir() -> Path:
    """The folder that `svmf download` writes to unless told otherwise."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "svmf"


def data_roots(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Folders to search, first match wins. One that the caller names is the only one searched."""
    if root is not None:
        return [Path(root)]
    named = os.environ.get("SVMF_DATA")
    return [*([Path(named)] if named else []), cache_dir()]


def find_folder(
    name: str, candidates: Sequence[str], marker: str, root: str | os.PathLike[str] | None = None
) -> Path:
    """The first `root/candidate` that holds a file matching the glob `marker`."""
    roots = data_roots(root)
    for base in roots:
        for candidate in candidates:
            folder = base / candidate
            if os.path.isdir(folder) and any(folder.glob(marker)):
                return folder
    searched = ", ".join(str(base) for base in roots)
    download = "mnist" if name == "mnist" else "planetoid"
    raise DataError(
        f"data set {name!r} not found in {searched}; "
        f"run `svmf download {download}`, set SVMF_DATA, or name a local copy with --data"
    )
