# SPDX-License-Identifier: MIT
"""docs/performance.md and docs/performance_tables.md anew, from one benchmark file: for every
instruction set of this machine, the best first, all tables and all goals; then
`tools/update_tables.py bench`. Ten minutes per instruction set. A busy machine is refused, before
and after.

    python tools/measure_performance.py            # measures, writes the pages and their pictures
    python tools/measure_performance.py --keep     # measures only: bench_output/performance.json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
OUT = ROOT / "bench_output"
SETS = ("avx512", "avx2")
LOOK = 5.0  # seconds at which the machine is looked at first


def supported() -> list[str]:
    """The instruction sets that svmf really takes here when asked for them."""
    code = "import svmf; print(svmf.build_info()['cpu_isa'])"
    found = []
    for name in SETS:
        answer = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "SVMF_CPU_ISA": name},
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode == 0 and answer.stdout.strip() == name:
            found.append(name)
    return found


def refuse_if_busy() -> None:
    from benchmarks.quiet import Watch, busy_text

    watch = Watch()
    time.sleep(LOOK)
    if busy := busy_text(watch.others(), [], os.cpu_count() or 1):
        raise SystemExit(busy)


def measure(instruction_set: str, kind: str) -> dict:
    """The document of one run of `python -m benchmarks`."""
    file = OUT / f"performance-{instruction_set}-{kind}.json"
    command = [sys.executable, "-m", "benchmarks", "--json", str(file)]
    command += ["--goals"] if kind == "goals" else ["--out", str(OUT / instruction_set)]
    environment = {**os.environ, "SVMF_CPU_ISA": instruction_set}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    document = json.loads(file.read_text())
    if document["busy"]:
        raise SystemExit(f"{instruction_set}, {kind}: {document['busy']}")
    return document


def together(runs: dict[tuple[str, str], dict]) -> dict:
    """One file: the tables of the best set come last, because a later document wins."""
    for (_, kind), document in runs.items():
        if kind == "tables":
            document["goals"] = []  # the few of a run of tables; --goals has them all
    best = next(iter(runs))[0]
    order = sorted(runs, key=lambda key: key[0] == best)
    return {"runs": [runs[key] for key in order]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="do not write the pages")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    refuse_if_busy()
    sets = supported()
    runs = {(name, kind): measure(name, kind) for name in sets for kind in ("tables", "goals")}
    file = OUT / "performance.json"
    file.write_text(json.dumps(together(runs), indent=1) + "\n")
    print(f"times  {file}")
    if arguments.keep:
        return 0
    for picture in (OUT / sets[0]).glob("bench-*.png"):
        shutil.copy(picture, ROOT / "docs" / "images" / picture.name)
    command = [sys.executable, str(ROOT / "tools" / "update_tables.py"), "bench", str(file)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
