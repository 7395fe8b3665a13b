# SPDX-License-Identifier: MIT
"""Builds a wheel with a manylinux tag and tries it in a fresh environment.

    make wheel                               the wheel in dist/, for the torch in .venv
    python tools/build_wheel.py --no-try     without the fresh environment

torch's libraries are not put into the wheel: the module finds them when torch is imported. The
oldest system that the tag promises is that of the symbols in use, as auditwheel reads them; build
on an older system for an older tag.
"""

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "build" / "wheel-tools"
TRIAL = """
import torch, svmf
from svmf.distributions import HypersphericalUniform, VonMisesFisher

loc = torch.nn.functional.normalize(torch.randn(64, 10), dim=-1).requires_grad_()
q = VonMisesFisher(loc, torch.full((64,), 50.0, requires_grad=True))
z = q.rsample()
(z.sum() + torch.distributions.kl_divergence(q, HypersphericalUniform(10)).sum()).backward()
assert loc.grad.isfinite().all() and torch.allclose(z.norm(dim=-1), torch.ones(64), atol=1e-5)
print("sampled with", svmf.__file__)
"""


def run(*command: object, **options: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def build(out: Path) -> Path:
    """The repaired wheel."""
    raw, repaired = ROOT / "build" / "raw-wheel", ROOT / "build" / "repaired-wheel"
    # what an earlier build has left there would be packed as well
    for stale in (raw, repaired, *ROOT.glob("build/lib.*"), *ROOT.glob("build/bdist.*")):
        shutil.rmtree(stale, ignore_errors=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run(sys.executable, "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "-w", raw,
        ROOT, env={**os.environ, "PATH": path})  # fmt: skip
    (made,) = raw.glob("svmf-*.whl")
    if not (TOOLS / "bin" / "auditwheel").exists():
        venv.create(TOOLS, with_pip=True)
        run(TOOLS / "bin" / "python", "-m", "pip", "install", "-q", "-r",
            ROOT / "requirements-wheel.txt")  # fmt: skip
    excluded = [f"--exclude={name}" for name in ("libtorch*.so*", "libc10*.so*")]
    tools = {**os.environ, "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}
    run(TOOLS / "bin" / "auditwheel", "repair", "--wheel-dir", repaired, *excluded, made, env=tools)
    (wheel,) = repaired.glob("svmf-*manylinux*.whl")
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(wheel, out))


def try_out(wheel: Path) -> None:
    """Installs it beside torch alone, and samples."""
    import torch

    fresh = ROOT / "build" / "wheel-trial"
    shutil.rmtree(fresh, ignore_errors=True)
    venv.create(fresh, with_pip=True)
    python = fresh / "bin" / "python"
    version = torch.__version__.partition("+")[0]
    run(python, "-m", "pip", "install", "-q", f"torch=={version}", wheel)
    run(python, "-c", TRIAL, cwd=fresh)
    run(fresh / "bin" / "svmf", "info", cwd=fresh)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheel")
    parser.add_argument("--no-try", action="store_true", help="do not install and run it")
    arguments = parser.parse_args()
    wheel = build(arguments.out)
    if not arguments.no_try:
        try_out(wheel)
    print(wheel)


if __name__ == "__main__":
    main()
