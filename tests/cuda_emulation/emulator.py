# SPDX-License-Identifier: MIT
"""Builds the emulation with g++ and runs cases in it.

A build is csrc/cuda/kernels compiled as C++ with one set of sanitizers, linked to the fibers of
runtime.cpp and the driver. It is kept under build/cuda_emulation, named by a hash of everything
that went into it, so that a change rebuilds what it touches and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CSRC = ROOT / "csrc"
BUILD = ROOT / "build" / "cuda_emulation"
COMPILER = os.environ.get("CXX", "g++")

# As nvcc is called: no contraction, fma where it is written.
COMMON_FLAGS = [
    *("-std=c++17", "-g1", "-fno-omit-frame-pointer"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"),
    "-DSVMF_ISA=isa_cuda",
]
# What is run much is optimised; what is run once or twice compiles faster without.
OPTIMISED, QUICK = "-O1", "-O0"
SANITIZERS = {
    "asan": [
        "-fsanitize=address,undefined",
        # The address sanitizer sees these when they matter, and they double the compiler's time.
        "-fno-sanitize=null,vptr,object-size,pointer-overflow",
        "-fno-sanitize-recover=undefined",
    ],
    "tsan": ["-fsanitize=thread"],
}
# A mutant is seen by a memory error, a check of the runtime or a wrong result.
MUTANT_SANITIZERS = {"asan": ["-fsanitize=address"], "tsan": ["-fsanitize=thread"]}
# Leaks: the driver exits in the middle when a check fails. First use of a stack is not a crash.
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:report_signal_unsafe=0",
}
# Seconds for one run of cases; a hundred times what they take.
TIMEOUT = 500
ORDERS = ("forward", "reverse", "shuffled")
# The samplers' state, inputs and outputs that are of the type that is computed in.
STATE_IN, STATE_OUT = (4, 5), (1, 2)


def fma_flag() -> list[str]:
    """The flag that gives this machine's compiler an fma instruction."""
    return ["-mfma"] if os.uname().machine == "x86_64" else []


@dataclass
class Case:
    """One call of a launch function; None is a null pointer."""

    op: str
    dtype: str
    integers: Sequence[int] = ()
    reals: Sequence[float] = ()
    inputs: Sequence[np.ndarray | None] = ()
    outputs: Sequence[int | None] = ()
    order: str = "forward"
    shuffle_seed: int = 1
    processors: int = 4
    results: list[np.ndarray | None] = field(default_factory=list)

    def input_type(self, i: int) -> np.dtype:
        return self._type(self.op.endswith("_sample_backward") and i in STATE_IN)

    def output_type(self, i: int) -> np.dtype:
        return self._type(self.op.endswith("_sample") and i in STATE_OUT)

    def _type(self, is_state: bool) -> np.dtype:
        return np.dtype("float32" if is_state and self.dtype == "float16" else self.dtype)

    def text(self) -> bytes:
        inputs = [
            -1 if a is None else a.size * self.input_type(i).itemsize
            for i, a in enumerate(self.inputs)
        ]
        outputs = [
            -1 if n is None else n * self.output_type(i).itemsize
            for i, n in enumerate(self.outputs)
        ]
        lists = (self.integers, [repr(float(r)) for r in self.reals], inputs, outputs)
        parts = [self.op, self.dtype, ORDERS.index(self.order), self.shuffle_seed, self.processors]
        for values in lists:
            parts += [len(values), *values]
        return (" ".join(map(str, parts)) + "\n").encode()


def listed_ops(kind: str) -> list[str]:
    """The ops of one kind, such as KAPPA or BESSEL, in the list that the C++ code is made from."""
    text = (CSRC / "common" / "ops.inc").read_text()
    return re.findall(rf"^SVMF_{kind}_OP\((\w+), k", text, re.MULTILINE)


class EmulationError(RuntimeError):
    """The emulated kernel did something that it must not: the message is the checker's report."""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _digest(paths: Iterable[Path], *words: str) -> str:
    digest = hashlib.sha256(" ".join(words).encode())
    for path in sorted(paths):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _compiler_version() -> str:
    return subprocess.run([COMPILER, "--version"], capture_output=True, text=True).stdout


def headers(csrc: Path) -> list[Path]:
    own = [*HERE.glob("*.h"), *(HERE / "include").rglob("*.*h")]
    return [
        *own,
        *(csrc / "math").glob("*.h"),
        *(csrc / "common").glob("*.h"),
        *(csrc / "common").glob("*.inc"),
        *(csrc / "cuda").rglob("*.*h"),
    ]


def compile_object(source: Path, flags: list[str], csrc: Path = CSRC) -> Path:
    """Compiles one file unless an object of the same hash exists."""
    key = _digest([source, *headers(csrc)], _compiler_version(), *flags)
    out = BUILD / f"{source.stem}-{key}.o"
    if not out.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        partial = out.with_suffix(f".{os.getpid()}.o")
        include = [f"-I{HERE / 'include'}", f"-I{HERE}", f"-I{csrc}"]
        _run([COMPILER, *flags, *include, "-x", "c++", "-c", str(source), "-o", str(partial)])
        partial.replace(out)
    return out


def compile_objects(sources: Iterable[Path], flags: list[str]) -> list[Path]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda source: compile_object(source, flags), sources))


def _flags(sanitizer: str) -> list[str]:
    return [*COMMON_FLAGS, OPTIMISED, *fma_flag(), *SANITIZERS[sanitizer]]


def _link(sanitizer: str, objects: list[Path]) -> Path:
    # The fibers themselves are not instrumented: their bookkeeping is not the kernel's.
    plain = [*COMMON_FLAGS, OPTIMISED, f"-DSVMF_EMULATION_{sanitizer.upper()}"]
    objects = [*objects, compile_object(HERE / "runtime.cpp", plain)]
    program = BUILD / f"driver-{sanitizer}-{_digest(objects)}"
    if not program.exists():
        partial = program.with_suffix(f".{os.getpid()}")
        _run([COMPILER, *SANITIZERS[sanitizer], *map(str, objects), "-o", str(partial)])
        partial.replace(program)
    return program


def kernel_sources() -> list[Path]:
    return sorted((CSRC / "cuda" / "kernels").glob("*.cu"))


def build(sanitizer: str, sources: Sequence[Path] | None = None) -> Path:
    """A driver program for all kernels, or a program from given sources."""
    sources = [*kernel_sources(), HERE / "driver.cpp"] if sources is None else sources
    return _link(sanitizer, compile_objects(sources, _flags(sanitizer)))


def build_with_mutant(sanitizer: str, csrc: Path, unit: str) -> Path:
    """The driver with one .cu file taken from a changed copy of csrc, in a namespace of its own."""
    flags = [f for f in COMMON_FLAGS if not f.startswith("-DSVMF_ISA")]
    flags += ["-DSVMF_ISA=isa_mutant", QUICK, *fma_flag(), *MUTANT_SANITIZERS[sanitizer]]
    mutant = compile_object(csrc / "cuda" / "kernels" / unit, flags, csrc)
    others = [source for source in [*kernel_sources(), HERE / "driver.cpp"] if source.name != unit]
    return _link(sanitizer, [*compile_objects(others, _flags(sanitizer)), mutant])


def build_library(torch_folder: Path) -> Path:
    """The op wrappers of csrc/cuda over emulated kernels, for torch.ops.load_library."""
    kernels = [*COMMON_FLAGS, QUICK, *fma_flag(), "-fPIC", "-fvisibility=hidden"]
    torch_headers = ["-isystem", str(torch_folder / "include")]
    wrappers = [
        *(*kernels, *torch_headers),
        "-DTORCH_TARGET_VERSION=0x020a000000000000",
        '-DSVMF_CUDA_ARCHS="8.0 9.0+PTX"',
    ]
    # What knows the real device has a double in ops/.
    real = ("device.cpp", "register.cpp")
    sources = [p for p in sorted((CSRC / "cuda").glob("*.cpp")) if p.name not in real]
    sources += [
        CSRC / "common" / "allocation_error.cpp",
        HERE / "ops" / "register_emulated.cpp",
    ]
    objects = compile_objects([*kernel_sources(), HERE / "runtime.cpp"], kernels)
    objects += compile_objects(sources, wrappers)
    library = BUILD / f"svmf_emulated-{_digest(objects)}.so"
    if not library.exists():
        partial = library.with_suffix(f".{os.getpid()}")
        torch_lib = torch_folder / "lib"
        link = [f"-L{torch_lib}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch_lib}"]
        _run([COMPILER, "-shared", "-Wl,-z,defs", *map(str, objects), *link, "-o", str(partial)])
        partial.replace(library)
    return library


def build_device_test(torch_folder: Path) -> tuple[Path, Path]:
    """csrc/cuda/device.cpp with recording functions in the place of torch's, and a stand-in for
    libtorch_cuda.so."""
    flags = [*COMMON_FLAGS, QUICK, "-fPIC", "-fvisibility=hidden", '-DSVMF_CUDA_ARCHS="8.0"']
    flags += ["-isystem", str(torch_folder / "include")]
    flags += ["-DTORCH_TARGET_VERSION=0x020a000000000000"]
    sources = [CSRC / "cuda" / "device.cpp", CSRC / "cuda" / "launch_error.cpp"]
    sources += [CSRC / "common" / "allocation_error.cpp", HERE / "runtime.cpp"]
    objects = compile_objects([*sources, HERE / "ops" / "recorded_device.cpp"], flags)
    folder = BUILD / f"device-{_digest(objects)}"
    folder.mkdir(parents=True, exist_ok=True)
    library, stub = folder / "recorded_device.so", folder / "libtorch_cuda.so"
    lib = torch_folder / "lib"
    link = [f"-L{lib}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{lib}", "-ldl", "-Wl,-Bsymbolic"]
    _run([COMPILER, "-shared", *map(str, objects), *link, "-o", str(library)])
    source = HERE / "ops" / "stub_torch_cuda.cpp"
    soname = "-Wl,-soname,libtorch_cuda.so"
    _run([COMPILER, "-shared", "-fPIC", soname, str(source), "-o", str(stub)])
    return library, stub


def run(
    program: Path, cases: Sequence[Case], folder: Path, environment: dict[str, str] | None = None
) -> str:
    """Runs the cases in one process and fills in their results; returns what it printed."""
    request, answer = folder / "cases.bin", folder / "outputs.bin"
    with request.open("wb") as file:
        for case in cases:
            file.write(case.text())
            for i, array in enumerate(case.inputs):
                if array is not None:
                    file.write(np.ascontiguousarray(array, dtype=case.input_type(i)).tobytes())
    try:
        done = subprocess.run(
            [str(program), str(request), str(answer)],
            capture_output=True,
            text=True,
            env={**os.environ, **ENVIRONMENT, **(environment or {})},
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise EmulationError(f"still running after {TIMEOUT} s") from None
    if done.returncode != 0:
        raise EmulationError(f"exit code {done.returncode}\n{done.stderr[:4000]}")
    data, position = answer.read_bytes(), 0
    for case in cases:
        for i, length in enumerate(case.outputs):
            if length is None:
                case.results.append(None)
                continue
            array = np.frombuffer(data, case.output_type(i), length, position).copy()
            position += array.nbytes
            case.results.append(array)
    return done.stdout
