# SPDX-License-Identifier: MIT
"""Thin driver of CMakeLists.txt: it names no source and no compiler flag.

Environment: SVMF_CUDA=AUTO|ON|OFF, CMAKE_ARGS (passed on), MAX_JOBS. See docs/building.md.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
# As in cmake/svmf_python.cmake: a free-threaded Python has no limited API.
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")
OLDEST_CMAKE = (3, 26)


def search_path() -> str:
    """The PATH, then the programs of this Python: they are not on the PATH of a virtual environment
    that was not activated."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])


def find_cmake(path: str) -> str:
    """The first CMake of the path that is new enough: a system's own may be older than pip's."""
    found = []
    for folder in path.split(os.pathsep):
        program = shutil.which("cmake", path=folder)
        if program is None:
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"(\d+)\.(\d+)", said)
        if version and (int(version[1]), int(version[2])) >= OLDEST_CMAKE:
            return program
        found.append(f"{program} is {version[0] if version else 'of unknown version'}")
    wanted = ".".join(map(str, OLDEST_CMAKE))
    raise SystemExit(
        f"svmf: the build needs CMake {wanted} or newer ({'; '.join(found) or 'none found'}): "
        f'pip install "cmake>={wanted}" ninja'
    )


class CMakeBuild(build_ext):
    """Configures and builds with CMake in a folder that is kept, so that a rebuild compiles only
    what changed.
    """

    def build_extension(self, ext: Extension) -> None:
        build = ROOT / "build" / f"cmake-{sys.implementation.cache_tag}"
        build.mkdir(parents=True, exist_ok=True)
        prefix = Path(self.get_ext_fullpath(ext.name)).resolve().parents[1]
        path = search_path()
        cmake = find_cmake(path)
        configure = [
            "-S", str(ROOT), "-B", str(build), "-G", "Ninja",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DSVMF_CUDA={os.environ.get('SVMF_CUDA', 'AUTO').upper()}",
            *shlex.split(os.environ.get("CMAKE_ARGS", "")),
        ]  # fmt: skip
        jobs = os.environ.get("MAX_JOBS")
        for arguments in (
            configure,
            ["--build", str(build), *(["-j", jobs] if jobs else [])],
            ["--install", str(build), "--prefix", str(prefix)],
        ):
            subprocess.run([cmake, *arguments], check=True, env={**os.environ, "PATH": path})


setup(
    ext_modules=[Extension("svmf._C", sources=[], py_limited_api=LIMITED_API)],
    cmdclass={"build_ext": CMakeBuild},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if LIMITED_API else {},
)
