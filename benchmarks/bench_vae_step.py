# SPDX-License-Identifier: MIT
"""A whole training step of the S-VAE against the N-VAE and the plain-Python sampler, and how much
of an epoch is not forward, backward or optimiser.

    python benchmarks/bench_vae_step.py [--minima] [--json out.json]
    pytest benchmarks/bench_vae_step.py --benchmark-only

Goals: S-VAE / N-VAE at most 1.0; reference / S-VAE at least 3; overhead of an epoch below 10 %.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from svmf.benchmarking.environment import describe_environment, environment
from svmf.benchmarking.timing import threads, time_interleaved
from svmf.benchmarking.training_models import epoch_overhead, make_steps
from svmf.benchmarking.training_step import BATCH, DIM, NORMAL, OURS, PIXELS, REFERENCE


@pytest.mark.parametrize("name", list(make_steps()))
def test_vae_step(benchmark, name: str) -> None:
    benchmark.group = "VAE step"
    benchmark(make_steps()[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="for all candidates together")
    parser.add_argument("--minima", action="store_true", help="ratios of minima: busy machines")
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    arguments = parser.parse_args()
    statistic = "smallest" if arguments.minima else "median"
    print(describe_environment())
    with threads(1):
        timings = time_interleaved(
            make_steps(), seconds=arguments.seconds, block_seconds=0.02, least_blocks=20
        )
        overhead = epoch_overhead()
    times = {name: getattr(timing, statistic) for name, timing in timings.items()}
    print(f"\nbatch {BATCH}, {PIXELS} pixels, d = {DIM}, one thread; {statistic}s of one run\n")
    print(f"{'step':30s} {'us':>8s} {'S-VAE / this':>14s}")
    for name, seconds in times.items():
        print(f"{name:30s} {seconds * 1e6:8.0f} {times[OURS] / seconds:14.2f}")
    normal, plain = times[OURS] / times[NORMAL], times[REFERENCE] / times[OURS]
    print(f"\nS-VAE / N-VAE with torch.distributions   {normal:.2f}  (goal: at most 1.0)")
    print(f"reference / S-VAE                        {plain:.1f}  (goal: at least 3)")
    print(f"epoch beyond forward, backward, Adam     {overhead:.1%}  (goal: below 10 %)")
    if arguments.json:
        results = {name: asdict(timing) for name, timing in timings.items()}
        document = {"environment": environment(), "timings": results, "epoch_overhead": overhead}
        Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
