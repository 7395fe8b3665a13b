# SPDX-License-Identifier: MIT
"""What every reader of a stranger's file promises: what it documents or one short error of ours,
soon, and with memory in proportion to the file."""

import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

from fuzz.checks import Finding, require
from fuzz.values import Chance

from svmf.errors import UserError

T = TypeVar("T")

MAX_SECONDS = 5.0  # of processor time; the dearest honest file takes 0.3
FREE_BYTES = 1 << 20


def read_hostile(
    read: Callable[[], T], check: Callable[[T], None], size: int, bytes_per_byte: int
) -> str:
    """ "read" or "refused"; a Finding if the reader did anything else."""
    outcome, seconds, peak = _measured(read, check)
    allowed = FREE_BYTES + bytes_per_byte * size
    if seconds >= MAX_SECONDS or peak >= allowed:
        # Again: an interpreter's table that grew just then, or a first import, is not the reader's.
        outcome, seconds, peak = _measured(read, check)
    require(seconds < MAX_SECONDS, f"{size} bytes took {seconds:.1f} s")
    require(peak < allowed, f"{size} bytes took {peak:,} bytes of memory")
    return outcome


def _measured(read: Callable[[], T], check: Callable[[T], None]) -> tuple[str, float, int]:
    """The outcome, seconds of the processor, and the most bytes that were held at once."""
    tracemalloc.start()
    started = time.process_time()
    try:
        check(read())
        outcome = "read"
    except UserError as error:
        outcome = "refused"
        require(len(str(error)) < 600 and "\n" not in str(error), f"a long error: {error}")
    except Finding:
        raise
    except Exception as error:
        raise Finding(f"{type(error).__name__}: {str(error)[:200]}") from error
    finally:
        seconds, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return outcome, seconds, peak


def damaged(chance: Chance, content: bytes) -> bytes:
    """A few bytes are others; now and then the end is missing."""
    changed = bytearray(content)
    for _ in range(chance.random.randrange(1, 4)):
        if changed:
            changed[chance.random.randrange(len(changed))] = chance.random.randrange(256)
    if chance.one_in(5):
        del changed[chance.random.randrange(len(changed) + 1) :]
    return bytes(changed)
