# SPDX-License-Identifier: MIT
"""Thin driver of CMakeLists.txt: it names no source and no compiler flag.

Environment: SVMF_CUDA=AUTO|ON|OFF, CMAKE_ARGS (passed on), MAX_JOBS. See docs/building.md.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """Configures and builds with CMake in a folder that is kept, so that a rebuild compiles only
    what changed.
    """

    def build_extension(self, ext: Extension) -> None:
        build = ROOT / "build" / f"cmake-{sys.implementation.cache_tag}"
        build.mkdir(parents=True, exist_ok=True)
        prefix = Path(self.get_ext_fullpath(ext.name)).resolve().parents[1]
        configure = [
            "cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DSVMF_CUDA={os.environ.get('SVMF_CUDA', 'AUTO').upper()}",
            *shlex.split(os.environ.get("CMAKE_ARGS", "")),
        ]  # fmt: skip
        jobs = os.environ.get("MAX_JOBS")
        subprocess.run(configure, check=True)
        subprocess.run(
            ["cmake", "--build", str(build), *(["-j", jobs] if jobs else [])], check=True
        )
        subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True)


setup(
    ext_modules=[Extension("svmf._C", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": CMakeBuild},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
