# SPDX-License-Identifier: MIT
"""Fork after use, the interpreter's end during a call, Ctrl-C during a long call. Each in a process
of its own with a time limit."""

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pytest

LIMIT = 300  # seconds, for a machine that is busy with other things


def program(text: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(text)]


def run(text: str) -> str:
    done = subprocess.run(program(text), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_fork_after_use() -> None:
    """The child samples what the parent would have: no lock is held over the fork. One thread, as
    in the workers of a DataLoader: OpenMP's own threads do not survive a fork."""
    out = run("""
        import os, sys, torch, svmf.functional as F
        torch.set_num_threads(1)
        loc, kappa = torch.eye(64), torch.full((64,), 20.0)
        F.vmf_rsample(loc, kappa)
        torch.manual_seed(3)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, F.vmf_rsample(loc, kappa).numpy().tobytes())
            os._exit(0)
        own = F.vmf_rsample(loc, kappa).numpy().tobytes()
        theirs = b""
        while len(theirs) < len(own):
            theirs += os.read(read, 1 << 16)
        assert os.waitpid(child, 0)[1] == 0
        print(own == theirs)
    """)
    assert out.strip() == "True"


def test_fork_while_another_thread_samples() -> None:
    out = run("""
        import os, threading, torch, svmf.functional as F
        torch.set_num_threads(1)
        loc, kappa = torch.eye(64), torch.full((64,), 20.0)
        stop = threading.Event()
        def work():
            own = torch.Generator().manual_seed(1)
            while not stop.is_set():
                F.vmf_rsample(loc, kappa, generator=own)
        worker = threading.Thread(target=work)
        worker.start()
        codes = []
        for _ in range(20):
            child = os.fork()
            if child == 0:
                z = F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(2))
                os._exit(0 if z.isfinite().all() else 1)
            codes.append(os.waitpid(child, 0)[1])
        stop.set(); worker.join()
        print(codes.count(0))
    """)
    assert out.strip() == "20"


LEAVING = """
import threading, time, torch, svmf.functional as F
torch.set_num_threads(2)
loc = torch.nn.functional.normalize(torch.randn(20_000, 64), dim=-1)
kappa = torch.full((20_000,), 20.0, requires_grad=True)
started = threading.Barrier(DAEMONS + 1)
def work():
    started.wait()
    while True:
        z, kl = F.vmf_rsample_kl(loc, kappa)
        (z.sum() + kl.sum()).backward()
for _ in range(DAEMONS):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.2)
print("leaving", flush=True)
"""


@pytest.mark.parametrize("daemons", [1, 4])
def test_interpreter_ends_during_calls(daemons: int) -> None:
    """Daemon threads are inside an op, or between two, when the main thread leaves. The process
    ends at once. Before 3.14 Python ends such threads by force, which C++ may answer with
    std::terminate, in torch's own ops too: SIGABRT after all work is done."""
    text = LEAVING.replace("DAEMONS", str(daemons))
    done = subprocess.run(program(text), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout.strip() == "leaving", done.stderr
    by_force = sys.version_info < (3, 14)
    assert done.returncode in ((0, -signal.SIGABRT) if by_force else (0,)), done.stderr


@pytest.fixture
def children_hear_control_c() -> Iterator[None]:
    """A program started in the background ignores SIGINT, and so do its children unless told."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("children_hear_control_c")
def test_control_c_during_a_long_call() -> None:
    """As for torch's own ops the call is finished first; then KeyboardInterrupt is raised, and the
    process is still sound."""
    child = subprocess.Popen(
        program("""
            import torch, svmf.functional as F
            torch.set_num_threads(1)
            loc = torch.nn.functional.normalize(torch.randn(200, 10_000), dim=-1)
            kappa = torch.full((200,), 20.0)
            F.vmf_rsample(loc, kappa)
            print("calling", flush=True)
            try:
                while True:
                    z = F.vmf_rsample(loc, kappa, (10,))
            except KeyboardInterrupt:
                z = F.vmf_rsample(loc, kappa)
                print("interrupted", bool(z.isfinite().all()), flush=True)
        """),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "calling"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=LIMIT)
    assert (out.strip(), child.returncode) == ("interrupted True", 0)


@pytest.mark.usefixtures("children_hear_control_c")
def test_control_c_stops_the_fuzzer() -> None:
    from helpers.paths import PROJECT

    child = subprocess.Popen(
        [sys.executable, str(PROJECT / "tests" / "fuzz"), "--calls", "1000000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline().startswith("seed 0")
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=LIMIT)
    assert "stopped" in out
    assert "calls in" in out
