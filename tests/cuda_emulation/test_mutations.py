# SPDX-License-Identifier: MIT
"""Our own kernels with one line spoiled: the emulation must notice each. A mutant that survives
means that the suite does not look at that line; a mutation whose text is gone fails too, so that
the list follows the sources. One mutant of every kind runs with the ordinary tests, the others are
slow ones."""

import shutil
from dataclasses import dataclass

import cases
import emulator
import numpy as np
import pytest
from test_races import race_cases


@dataclass(frozen=True)
class Mutation:
    """`old` becomes `new` in `file`, at the occurrence asked for; `unit` is compiled with it."""

    file: str
    old: str
    new: str
    unit: str
    sanitizer: str = "asan"
    occurrence: int = 1


MUTATIONS = {
    "missing barrier between the warps' sums": Mutation(
        "team.cuh", "__syncthreads();\n    for (int k", "for (int k", "householder.cu", "tsan"
    ),
    "missing barrier before the exchange is used again": Mutation(
        "team.cuh", "__syncthreads();\n  }", "}", "vmf_kl.cu", "tsan"
    ),
    "missing barrier after staging a table": Mutation(
        "staged.cuh", "  __syncthreads();\n", "", "vmf_kappa.cu", "tsan"
    ),
    "missing sync between parking and writing": Mutation(
        "vmf_sample.cuh", "  team.sync();\n  T* const to", "  T* const to", "vmf_sample.cu", "tsan"
    ),
    "missing sync before the next step": Mutation(
        "vmf_sample.cuh", "  team.sync();  // the run is free", "  //", "vmf_sample.cu", "tsan"
    ),
    "missing barrier after the block's preparation": Mutation(
        "vmf_sample_backward.cuh",
        "      __syncthreads();\n      // More",
        "      // More",
        "vmf_sample_backward.cu",
        "tsan",
    ),
    "missing sync before the next tile": Mutation(
        "row_distance.cuh", "    team.sync();\n", "", "vmf_kl.cu", "tsan", occurrence=2
    ),
    "wrong shuffle width": Mutation(
        "team.cuh", "x[k], offset);", "x[k], offset, 8);", "householder.cu"
    ),
    "sum over half of the team": Mutation(
        "team.cuh", "int offset = 16;", "int offset = 8;", "householder.cu"
    ),
    "tail of the direction out of bounds": Mutation(
        "vmf_sample.cuh", "if (begin + d < m) {", "{", "vmf_sample.cu"
    ),
    "element after the last": Mutation("elements.cuh", "i < n;", "i <= n;", "vmf_kappa.cu"),
    "row after the last": Mutation(
        "team.cuh",
        "return wanted < count ? wanted : count - 1;",
        "return wanted;",
        "vmf_kl.cu",
    ),
    "park of one owner only": Mutation(
        "vmf_sample.cuh",
        "Team::kOwners * per_owner * sizeof(S)",
        "per_owner * sizeof(S)",
        "vmf_sample.cu",
    ),
    "lanes that are done leave the rounds": Mutation(
        "wood_rounds.cuh",
        "waiting != 0 && tried",
        "(waiting >> lane & 1) != 0 && tried",
        "vmf_sample.cu",
    ),
    "the last accepted attempt wins": Mutation(
        "wood_rounds.cuh",
        "const int first_yes = __ffs(static_cast<int>(yes >> start)) - 1;",
        "const unsigned own = (yes >> start) & (kWholeWarp >> (kWarpSize - share));\n"
        "const int first_yes = own != 0 ? 31 - __builtin_clz(own) : -1;",
        "vmf_sample.cu",
    ),
    "idle teams skip the sum": Mutation(
        "householder.cuh",
        "      team.sum(sums",
        "      if (!tile.has_row(team, i)) continue;\n      team.sum(sums",
        "householder.cu",
    ),
    "samples left out": Mutation(
        "vmf_sample_backward.cuh",
        "begin += at_once;",
        "begin += at_once + 1;",
        "vmf_sample_backward.cu",
    ),
}

# Further mutants of a kind that is already there.
SLOW = {
    "missing sync before the next step",
    "missing barrier after the block's preparation",
    "missing barrier before the exchange is used again",
    "missing barrier after staging a table",
    "missing sync before the next tile",
    "sum over half of the team",
    "row after the last",
    "park of one owner only",
    "the last accepted attempt wins",
    "samples left out",
}


def build_mutant(mutation: Mutation, folder):
    csrc = folder / "csrc"
    shutil.copytree(emulator.CSRC, csrc, ignore=shutil.ignore_patterns("cpu", "simd", "testing"))
    path = csrc / "cuda" / "kernels" / mutation.file
    parts = path.read_text().split(mutation.old)
    assert len(parts) > mutation.occurrence, f"{mutation.file} no longer has: {mutation.old!r}"
    head, tail = parts[: mutation.occurrence], parts[mutation.occurrence :]
    path.write_text(mutation.old.join(head) + mutation.new + mutation.old.join(tail))
    return emulator.build_with_mutant(mutation.sanitizer, csrc, mutation.unit)


def small_cases(unit: str) -> list[cases.Comparison]:
    rng = np.random.default_rng(5)
    dims = (3, 5, 6, 12, 70, 140, 1030)
    make = {
        "householder.cu": lambda: cases.householder_cases(rng, dims),
        "vmf_kl.cu": lambda: cases.distance_cases(rng, dims),
        "vmf_kappa.cu": lambda: list(cases.kappa_cases(rng))[:12],
        "vmf_sample.cu": lambda: cases.sample_cases(rng, dims),
        "vmf_sample_backward.cu": lambda: cases.backward_cases(rng, dims),
    }
    return list(make[unit]())


PARAMETERS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in MUTATIONS
]


@pytest.mark.parametrize("name", PARAMETERS)
def test_mutant_is_noticed(name, compiler, tmp_path):
    mutation = MUTATIONS[name]
    program = build_mutant(mutation, tmp_path)
    try:
        if mutation.sanitizer == "tsan":
            op = mutation.unit.removesuffix(".cu").replace("vmf_kappa", "vmf_entropy")
            runs = [c for c in race_cases(np.random.default_rng(3)) if c.op.startswith(op)]
            emulator.run(program, runs, tmp_path)
        else:
            comparisons = small_cases(mutation.unit)
            emulator.run(program, [c.case for c in comparisons], tmp_path)
            for comparison in comparisons:
                comparison.check()
    except (emulator.EmulationError, AssertionError):
        return
    pytest.fail(f"nobody noticed: {name}")
