# SPDX-License-Identifier: MIT
"""How many times faster KL with its derivative and log I_v are than through `scipy.special.ive`.

    python benchmarks/bench_special.py            1e6 values: about two minutes
    python benchmarks/bench_special.py --quick    fewer dimensions, orders and values

One thread, by turns in one run, the best of several: theirs/ours. `svmf bench --op special` has
the other functions, and medians.
"""

import argparse
import warnings

from svmf.benchmarking.environment import describe_environment
from svmf.benchmarking.special import KL, LOG_IV, SpecialOp, measure_special

_TITLES = {
    KL.name: "KL with its derivative: times faster than SciPy (float64, float32), than reference",
    LOG_IV.name: "log I_v: times faster than log(ive) + x (float64, float32), than reference",
}


def rows(op: SpecialOp, count: int, quick: bool) -> list[str]:
    lines = [_TITLES[op.name]]
    for value in op.values[::2] if quick else op.values:
        timing = measure_special(op, value, count, seconds=0.3, least_blocks=5)
        faster = [
            1 / (timing.ratio(ours, theirs, "smallest") or float("nan"))
            for ours, theirs in (("float64", "SciPy"), ("float32", "SciPy"), ("few", "reference"))
        ]
        nanoseconds = timing.timings["float64"].smallest / count * 1e9
        lines.append(
            f"  {op.parameter} = {value:5g} "
            + " ".join(f"{times:8.0f}" for times in faster)
            + f"   ({nanoseconds:.1f} ns a value)"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1e5 values, every second case")
    quick = parser.parse_args().quick
    count = 100_000 if quick else 1_000_000
    print(f"{describe_environment()}\n{count:,} values, one thread")
    warnings.simplefilter("ignore", RuntimeWarning)  # ive underflows in SciPy's formulas
    for op in (KL, LOG_IV):
        print("\n".join(rows(op, count, quick)), flush=True)


if __name__ == "__main__":
    main()
