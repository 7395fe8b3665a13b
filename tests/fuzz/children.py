# SPDX-License-Identifier: MIT
"""Runs a call in a forked child, so that a crash or a hang is a finding, not the fuzzer's end."""

import os
import select
import signal
import time
import traceback
from collections.abc import Callable

import torch
from fuzz.checks import Finding
from torch.distributions import Distribution

from svmf.errors import UserError

SECONDS = 60.0  # of waiting, on a busy machine and with sanitizers


class Child:
    """One forked call. Its text is what it returned, or the one line of an error of ours."""

    def __init__(self, call: Callable[[], str]) -> None:
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            os._exit(_run(call, write))
        os.close(write)

    def result(self, seconds: float = SECONDS) -> str:
        """Waits for the child and gives its text; a Finding if it crashed, hung or raised."""
        text, deadline = b"", time.monotonic() + seconds
        try:
            while select.select([self._read], [], [], max(deadline - time.monotonic(), 0.0))[0]:
                piece = os.read(self._read, 1 << 16)
                if not piece:
                    break
                text += piece
            else:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise Finding(f"a child process hung for {seconds:.0f} s")
        finally:
            os.close(self._read)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code < 0:
            raise Finding(f"a child process ended by {signal.Signals(-code).name}")
        if code:
            raise Finding(text.decode(errors="replace") or f"a child process ended with {code}")
        return text.decode()


def _run(call: Callable[[], str], write: int) -> int:
    """In the child: 0 with a text, 1 with the reason of a finding."""
    torch.set_num_threads(1)  # OpenMP's own threads did not survive the fork
    Distribution.set_default_validate_args(True)
    code = 0
    try:
        text = call()
    except UserError as error:
        text = "refused: " + str(error)
        if "\n" in text or len(text) > 1000:
            code, text = 1, f"a long error: {text[:1000]}"
    except Finding as finding:
        code, text = 1, str(finding)
    except BaseException as error:
        code, text = (
            1,
            f"{type(error).__name__}: {str(error)[:300]}\n{traceback.format_exc()[-600:]}",
        )
    os.write(write, text.encode(errors="replace")[:60_000])
    return code
