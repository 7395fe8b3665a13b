# SPDX-License-Identifier: MIT
"""A progress line on standard error: redrawn in place on a terminal, plain lines in a log file."""

import sys
import time
from typing import TextIO

_REDRAW_SECONDS = 0.1
_LOG_SECONDS = 30.0
_BAR_WIDTH = 20


class ProgressLine:
    """`update` may be called as often as one likes; it draws at most ten times a second on a
    terminal, and every half minute elsewhere. A `milestone` is always a line in a log file."""

    def __init__(self, stream: TextIO | None = None, enabled: bool = True) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = enabled and self._stream.isatty()
        self._enabled = enabled
        self._interval = _REDRAW_SECONDS if self._live else _LOG_SECONDS
        self._drawn = 0.0 if self._live else time.monotonic()

    @property
    def due(self) -> bool:
        """Whether an update would be drawn: lets a hot loop skip the making of the text."""
        return self._enabled and time.monotonic() - self._drawn >= self._interval

    def update(self, share: float, text: str) -> None:
        if self.due:
            self._drawn = time.monotonic()
            if self._live:
                filled = round(_BAR_WIDTH * min(max(share, 0.0), 1.0))
                bar = "#" * filled + "." * (_BAR_WIDTH - filled)
                self._stream.write(f"\r[{bar}] {text}\x1b[K")
            else:
                self._stream.write(f"{text}\n")
            self._stream.flush()

    def milestone(self, share: float, text: str) -> None:
        """The end of an epoch, say."""
        if self._live:
            self.update(share, text)
        else:
            self._drawn = time.monotonic()
            self.line(text)

    def line(self, text: str) -> None:
        """A line that stays."""
        if self._enabled:
            self._stream.write(f"\r{text}\x1b[K\n" if self._live else f"{text}\n")
            self._stream.flush()

    def close(self) -> None:
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
