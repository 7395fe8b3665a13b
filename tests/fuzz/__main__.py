# SPDX-License-Identifier: MIT
"""`python tests/fuzz --calls N --seed S`: random calls of ops and distributions, hostile files, odd
moments for a fork.

A finding is printed with the command that repeats that one call. `--lanes` chooses kinds of calls.
`--module` loads another build of the compiled ops, for instance one with sanitizers (`make fuzz`).
"""

import argparse
import collections
import importlib.util
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def load_module(path: str) -> None:
    """Puts this file in the place of svmf._C."""
    import torch  # noqa: F401  (the module is linked to torch's libraries)

    spec = importlib.util.spec_from_file_location("svmf._C", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["svmf._C"] = module


def arguments(lanes: Iterable[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__)
    parser.add_argument("--calls", type=int, default=1000, help="how many calls (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the whole run (default 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--call", type=int, help="repeat this call alone")
    parser.add_argument("--module", help="the compiled module to test instead of the installed one")
    parser.add_argument(
        "--lanes", nargs="+", choices=tuple(lanes), default=(), help="only these kinds of calls"
    )
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--findings", type=int, default=20, help="stop after this many")
    return parser.parse_args()


def main() -> int:
    from fuzz.campaign import LANES, Campaign

    options = arguments(LANES)
    if options.module:
        load_module(options.module)
    import svmf

    info = svmf.build_info()
    sanitizers = info.get("sanitizers") or "none"
    print(f"seed {options.seed}, sanitizers: {sanitizers}, {info['cpu_isa']} kernels", flush=True)
    campaign = Campaign(options.seed, options.lanes)
    lanes = f" --lanes {' '.join(options.lanes)}" if options.lanes else ""
    if options.call is not None:
        print(campaign.call(options.call))
        return 0
    kinds: collections.Counter[str] = collections.Counter()
    findings, done, started, shown = 0, 0, time.monotonic(), time.monotonic()
    with tempfile.NamedTemporaryFile(prefix="svmf-fuzz-", delete=False) as latest:
        print(f"if the process dies, its last call is the number in {latest.name}", flush=True)
    try:
        for number in range(options.first, options.first + options.calls):
            Path(latest.name).write_text(str(number))
            try:
                kinds[campaign.call(number).split(" ", 1)[0]] += 1
            except Exception as error:
                findings += 1
                print(f"call {number}: {type(error).__name__}: {error}", flush=True)
                print(f"  repeat: python tests/fuzz --seed {options.seed} --call {number}{lanes}")
                if findings >= options.findings:
                    break
            done += 1
            if options.seconds and time.monotonic() - started > options.seconds:
                break
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"{done} calls, {findings} findings, {shown - started:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("stopped")
    Path(latest.name).unlink()
    print(f"{done} calls in {time.monotonic() - started:.0f} s, {findings} findings")
    print("  " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    print(campaign.summary())
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
