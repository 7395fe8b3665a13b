# SPDX-License-Identifier: MIT
"""An HTTP opener with a clock: a server that sends a little, again and again, is given up.

A socket's timeout starts anew with every byte, so that it does not bound a response. Here every
read of a response, of its headers too, looks at the time that is left.
"""

import http.client
import io
import time
import urllib.request
from typing import Any


class TooSlowError(Exception):
    """The server sends less than is asked of it."""


class Clock:
    """Allows `patience` seconds of waiting, and for each `rate` bytes that come one second more."""

    def __init__(self, patience: float, rate: float, timeout: float) -> None:
        self.started = time.monotonic()
        self.patience, self.rate, self.timeout = patience, rate, timeout
        self.received = 0

    def next_timeout(self) -> float:
        """How long the next read may take."""
        allowed = self.patience + self.received / self.rate
        left = self.started + allowed - time.monotonic()
        if left <= 0:
            raise TooSlowError(
                f"too slow: {self.received:,} bytes in {time.monotonic() - self.started:.0f} s"
            )
        return min(left, self.timeout)


class _ClockedReader(io.RawIOBase):
    """The bytes of a socket, read against the clock."""

    def __init__(self, raw: Any, sock: Any, clock: Clock) -> None:
        self._raw, self._sock, self._clock = raw, sock, clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._clock.next_timeout())
        count: int = self._raw.readinto(buffer)
        self._clock.received += count or 0
        return count

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def make_opener(clock: Clock) -> urllib.request.OpenerDirector:
    """Opens http, https and file addresses. No redirection leads to a file."""

    class Response(http.client.HTTPResponse):
        def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            self.fp = io.BufferedReader(_ClockedReader(self.fp.detach(), sock, clock))

    class Plain(http.client.HTTPConnection):
        response_class = Response

    class Secure(http.client.HTTPSConnection):
        response_class = Response

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Plain, request)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Secure, request)

    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.FileHandler(),
        PlainHandler(),
        SecureHandler(),
    ):
        opener.add_handler(handler)
    return opener
