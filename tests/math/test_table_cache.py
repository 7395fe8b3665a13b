# SPDX-License-Identifier: MIT
"""The cache of pathwise tables (csrc/common/table_cache.h): bounded, the least recently used goes
first, the same values under many threads, and no child of a fork waits for a thread that it does
not have.
"""

import os
import sys
import textwrap
import threading
import time

import pytest
import torch
from helpers.commands import python
from helpers.paths import PROJECT

import svmf.functional as F

W = torch.linspace(-0.9, 0.9, 16)
KAPPA = torch.linspace(0.5, 50.0, 16)


def derivative(m: int) -> torch.Tensor:
    return F.vmf_pathwise_derivative(W, KAPPA, m)


def test_the_least_recently_used_table_goes_first(svmf_math):
    cache = svmf_math.SmallCache()
    assert [cache.get(n) for n in (3, 5, 3, 7, 3, 5)] == [30, 50, 30, 70, 30, 50]
    assert cache.made == [3, 5, 7, 5]  # 7 took the place of 5, and 5 that of 7


def test_numbers_that_differ_by_a_power_of_two_are_kept_together():
    """Twenty dimensions equal mod 16: made once (20 to 40 ms), then only looked up."""
    dims = range(16, 16 * 21, 16)
    for m in dims:
        derivative(m)
    best = min(timed(lambda: [derivative(m) for m in dims]) for _ in range(5))
    assert best < 20 * 0.4e-3, f"{best / 20 * 1e6:.0f} us per call"


def timed(f) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def test_threads_get_the_values_of_one_thread():
    dims = list(range(2, 90))  # more than the cache holds, so that tables come and go
    expected = {m: derivative(m) for m in dims}
    wrong = []

    def run(offset: int) -> None:
        for m in dims[offset:] + dims[:offset]:
            if not torch.equal(derivative(m), expected[m]):
                wrong.append(m)

    threads = [threading.Thread(target=run, args=(11 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FORKS = """
    import os, signal, sys, threading, time
    import torch
    import svmf.functional as F

    torch.set_num_threads(1)
    w, kappa = torch.linspace(-0.9, 0.9, 16), torch.linspace(0.5, 50.0, 16)
    going = True

    def make_tables():
        m = 100
        while going:
            F.vmf_pathwise_derivative(w, kappa, m)
            m = 100 + (m - 99) % 400

    maker = threading.Thread(target=make_tables, daemon=True)
    maker.start()
    hung = 0
    for i in range(60):
        time.sleep(0.001)
        child = os.fork()
        if child == 0:
            F.vmf_pathwise_derivative(w, kappa, 5 + i)
            os._exit(0)
        deadline = time.monotonic() + 60
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                hung += 1
                break
            time.sleep(0.001)
        if hung:
            break
    going = False
    maker.join()  # Python's end kills a thread in a call, which C++ takes for an abort
    sys.exit(f"a child hung after {i + 1} forks" if hung else 0)
"""


# A handler of ours is registered before the module is loaded, so that a fork comes to it after the
# module's own. Even then, and though no table was ever asked for, no thread may have the lock.
FIRST_TABLE = """
    import ctypes, os, sys, threading
    import torch

    forking, done = threading.Event(), threading.Event()
    HANDLER = ctypes.CFUNCTYPE(None)

    @HANDLER
    def before_fork():
        forking.set()
        if done.wait(1):
            os.write(2, b"a thread had the lock while the process was forking")
            os._exit(1)

    ctypes.CDLL(None).__register_atfork(before_fork, HANDLER(0), HANDLER(0), None)
    import svmf.functional as F

    torch.set_num_threads(1)
    w, kappa = torch.linspace(-0.9, 0.9, 16), torch.linspace(0.5, 50.0, 16)
    F.log_iv(1.0, kappa)

    def first_table():
        forking.wait()
        F.vmf_pathwise_derivative(w, kappa, 7)
        done.set()

    thread = threading.Thread(target=first_table)
    thread.start()
    child = os.fork()
    if child == 0:
        F.vmf_pathwise_derivative(w, kappa, 8)
        os._exit(0)
    thread.join()
    sys.exit(os.waitpid(child, 0)[1])
"""


def run(program: str) -> None:
    python("-c", textwrap.dedent(program), cwd=PROJECT, timeout=300)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_while_another_thread_makes_tables():
    run(FORKS)


@pytest.mark.skipif(sys.platform != "linux", reason="registers a handler as glibc does")
def test_a_fork_while_another_thread_asks_for_its_first_table():
    run(FIRST_TABLE)
