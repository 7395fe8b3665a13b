# SPDX-License-Identifier: MIT
"""Which symbols of torch the compiled module needs, and whether given builds of torch have them.

    python tools/abi_symbols.py svmf/_C.abi3.so                     # the torch of this Python
    python tools/abi_symbols.py svmf/_C.abi3.so torch-2.10.0-*.whl torch-2.14.1-*.whl

The module must need nothing but functions of torch's C interface; weak symbols may be missing
(csrc/common/allocation_error.cpp does without them).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LIBRARIES = ("libtorch_cpu.so", "libc10.so")
# csrc/cuda/device.cpp looks this up by name where there is CUDA.
CUDA_SYMBOLS = ("aoti_torch_get_current_cuda_stream",)


def _symbols(path: Path, *options: str) -> list[tuple[str, str]]:
    """Kind and name."""
    command = ["nm", "-D", *options, str(path)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [(line.split()[-2], line.split()[-1].split("@")[0]) for line in lines]


def needed(module: Path) -> dict[str, bool]:
    """The symbols of torch that a module needs; True for those that it can do without."""
    return {
        name: kind in "wv"
        for kind, name in _symbols(module, "--undefined-only")
        if name.startswith(("aoti_torch_", "torch_"))
        or any(part in name for part in ("N3c10", "N5torch", "N2at"))
    }


def provided(folder: Path) -> set[str]:
    """What the libraries of a torch export."""
    names: set[str] = set()
    for library in LIBRARIES:
        names |= {name for _, name in _symbols(folder / library, "--defined-only")}
    return names


def missing(module: Path, folder: Path) -> list[str]:
    """Symbols that the module cannot do without and this torch does not have."""
    has = provided(folder)
    lacks = [name for name, weak in needed(module).items() if not weak and name not in has]
    cuda = folder / "libtorch_cuda.so"
    if cuda.exists():
        has = {name for _, name in _symbols(cuda, "--defined-only")}
        lacks += [name for name in CUDA_SYMBOLS if name not in has]
    return sorted(lacks)


def unpack(wheel: Path, folder: Path) -> Path:
    """The libraries of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        for name in (*LIBRARIES, "libtorch_cuda.so"):
            member = f"torch/lib/{name}"
            if member in file.namelist():
                file.extract(member, folder)
    return folder / "torch" / "lib"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", type=Path)
    parser.add_argument("wheels", type=Path, nargs="*")
    arguments = parser.parse_args()
    failed = False
    for wheel in arguments.wheels or [None]:
        with tempfile.TemporaryDirectory() as folder:
            if wheel is None:
                import torch

                name, lib = f"torch {torch.__version__}", Path(torch.__file__).parent / "lib"
            else:
                name, lib = wheel.name, unpack(wheel, Path(folder))
            lacks = missing(arguments.module, lib)
            weak = [n for n, w in needed(arguments.module).items() if w and n not in provided(lib)]
        done = f"has all {len(needed(arguments.module))} symbols"
        print(f"{name}: {'lacks ' + ', '.join(lacks) if lacks else done}")
        if weak:
            print(f"  without, and not needed: {', '.join(sorted(weak))}")
        failed |= bool(lacks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
