# SPDX-License-Identifier: MIT
"""Ctrl-C and SIGTERM as a request: the trainer finishes its step, saves and stops. A second Ctrl-C
interrupts at once."""

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Context manager; `signal` is the number received, or 0."""

    def __init__(self) -> None:
        self.signal = 0
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number
