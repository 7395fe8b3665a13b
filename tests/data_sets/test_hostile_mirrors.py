# SPDX-License-Identifier: MIT
"""Mirrors that answer nonsense, slowly or for ever: each is left for the next one, in bounded time.
Everything stays on this machine."""

import contextlib
import socket
import threading
import time
from types import SimpleNamespace

import pytest
from data_sets.test_download import PACKED, Server, collection

from svmf.data import download as downloader
from svmf.data import patient_http
from svmf.data.download import download
from svmf.errors import DataError


class Script:
    """Answers every request with these bytes; with `pause`, one byte after each such pause."""

    def __init__(self, answer: bytes, pause: float = 0.0) -> None:
        self.answer, self.pause = answer, pause
        self.requests = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self._open = True
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while self._open:
            with contextlib.suppress(OSError):
                connection, _ = self._socket.accept()
                self.requests += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            if not self.pause:
                connection.sendall(self.answer)
                return
            for place in range(len(self.answer)):
                if not self._open:
                    return
                connection.sendall(self.answer[place : place + 1])
                time.sleep(self.pause)

    def close(self) -> None:
        self._open = False
        self._socket.close()


@pytest.fixture
def good():
    server = Server()
    yield server
    server.close()


@contextlib.contextmanager
def scripted(answer: bytes, pause: float = 0.0):
    script = Script(answer, pause)
    try:
        yield script
    finally:
        script.close()


OK = b"HTTP/1.1 200 OK\r\n"
END = b"\r\n\r\n"


def redirect(place: str) -> bytes:
    return b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + place.encode("utf-8") + END


ANSWERS = {
    "nothing": b"",
    "no HTTP": b"\0" * 1000,
    "another protocol": b"SSH-2.0-server\r\n" + END,
    "a status of letters": b"HTTP/1.1 abc OK" + END,
    "a status of 10000": b"HTTP/1.1 10000 OK" + END,
    "an endless status": b"HTTP/1.1 " + b"2" * 200_000,
    "a thousand headers": OK + b"X: y\r\n" * 1000 + b"\r\n",
    "one endless header": OK + b"X: " + b"y" * 200_000 + END,
    "headers without a colon": OK + b"nonsense\r\n\xff\xfe\r\n" + END + b"short",
    "a length of -5": OK + b"Content-Length: -5" + END + b"short",
    "a length of a superscript": OK + "Content-Length: \u00b2".encode() + END + b"short",
    "a superscript in Latin": OK + b"Content-Length: \xb2" + END + b"short",
    "a length of 5000 digits": OK + b"Content-Length: " + b"9" * 5000 + END + b"short",
    "a length beyond all disks": OK + b"Content-Length: 99999999999999999999" + END + b"short",
    "two lengths": OK + b"Content-Length: 5\r\nContent-Length: 7" + END + b"short",
    "a length of words": OK + b"Content-Length: five" + END + b"short",
    "a length too small": OK + b"Content-Length: 1" + END + PACKED,
    "chunks of nonsense": OK + b"Transfer-Encoding: chunked" + END + b"xyz\r\nabc",
    "a negative chunk": OK + b"Transfer-Encoding: chunked" + END + b"-5\r\nabc",
    "an endless chunk size": OK + b"Transfer-Encoding: chunked" + END + b"f" * 100_000,
    "an empty partial answer": b"HTTP/1.1 206 Partial\r\nContent-Length: 0" + END,
    "an empty redirection": redirect(""),
    "a redirection nowhere": b"HTTP/1.1 302 Found" + END,
    "a redirection to half an address": redirect("http://[::1"),
    "a redirection to a file": redirect("file:///etc/passwd"),
    "a redirection to ftp": redirect("ftp://127.0.0.1:9/x"),
    "a redirection to data": redirect("data:text/plain,x"),
    "a redirection to a port that is none": redirect("http://127.0.0.1:99999999/"),
    "a redirection to letters": redirect("http://127.0.0.1:abc/"),
    "a redirection to another alphabet": redirect("http://127.0.0.1/\u00fc\u4e2d"),
    "a redirection with blanks": redirect("http://127.0.0.1:9/a b\tc"),
    "a redirection to itself": redirect("/again"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_next_mirror_is_tried(tmp_path, good, answer):
    with scripted(ANSWERS[answer]) as bad:
        started = time.monotonic()
        folder = download(collection(bad.url, good.url), tmp_path)
        assert bad.requests >= 1
    assert (folder / "file.gz").read_bytes() == PACKED
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    "answer", ["a length of a superscript", "a redirection to half an address"]
)
def test_alone_it_is_one_line(tmp_path, answer):
    with (
        scripted(ANSWERS[answer]) as bad,
        pytest.raises(DataError, match="could not be downloaded") as refusal,
    ):
        download(collection(bad.url), tmp_path)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize(
    "mirror",
    [
        "nonsense", "", "/", "http:", "http://", "http:///x", "http://[::1", "http://127.0.0.1:port/",
        "http://127.0.0.1:99999999999/", "http://127.0.0.1:9/\udcff", "http://127.0.0.1:9/\u4e2d",
        "http://127.0.0.1:9/a b\r\nHost: x", "gopher://127.0.0.1/", "file:///nowhere",
        "http://" + "a" * 70 + ".invalid/", "http://\0/", "javascript:alert(1)", "mailto:a@b",
    ],
)  # fmt: skip
def test_nonsense_mirror_is_passed_over(tmp_path, good, mirror):
    folder = download(collection(good.url), tmp_path, [mirror])
    assert (folder / "file.gz").read_bytes() == PACKED


@pytest.mark.parametrize("what", ["body", "headers", "status"])
def test_slow_server_is_given_up(tmp_path, good, monkeypatch, what):
    """A byte every tenth of a second, which no socket's timeout notices."""
    monkeypatch.setattr(downloader, "_PATIENCE_SECONDS", 3.0)
    head = OK + b"Content-Length: 5000" + END
    answer = {
        "body": head + PACKED,
        "headers": OK + b"X: yyyyyyy\r\n" * 90 + END,
        "status": b"HTTP/1.1 200 " + b"x" * 3000,
    }[what]
    with scripted(answer, pause=0.1) as slow:
        started = time.monotonic()
        folder = download(collection(slow.url, good.url), tmp_path)
        seconds = time.monotonic() - started
    assert (folder / "file.gz").read_bytes() == PACKED
    assert 2.5 < seconds < 60


def test_slow_server_alone_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(downloader, "_PATIENCE_SECONDS", 3.0)
    with (
        scripted(OK + b"Content-Length: 5000" + END + PACKED, pause=0.1) as slow,
        pytest.raises(DataError, match=r"too slow: [0-9]+ bytes in [34] s"),
    ):
        download(collection(slow.url), tmp_path)


def test_clock_asks_for_a_rate(monkeypatch):
    """A large file over a slow line comes, however long it takes, if it keeps coming."""
    now = 0.0
    monkeypatch.setattr(patient_http, "time", SimpleNamespace(monotonic=lambda: now))
    clock = patient_http.Clock(patience=60, rate=8192, timeout=30)
    for _ in range(1000):  # a steady 10 kB a second
        now += 10
        clock.received += 100_000
        assert clock.next_timeout() == 30
    now += 2500  # nothing more comes: the reserve is used up
    with pytest.raises(patient_http.TooSlowError, match=r"too slow: 100,000,000 bytes in 12500 s"):
        clock.next_timeout()


def test_link_in_the_place_of_a_part_is_not_followed(tmp_path, good):
    """Whoever may write to the folder cannot have us overwrite a file elsewhere."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    with scripted(b"") as bad:
        (tmp_path / "set").mkdir()
        url = good.url + "file.gz"
        tag = downloader.hashlib.sha256(url.encode()).hexdigest()[:8]
        (tmp_path / "set" / f".file.gz.{tag}.part").symlink_to(victim)
        with pytest.raises(DataError, match="cannot be written"):
            download(collection(bad.url, good.url), tmp_path)
    assert victim.read_text() == "mine"


def test_file_mirror(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "file.gz").write_bytes(PACKED)
    folder = download(collection((tmp_path / "mirror").as_uri()), tmp_path)
    assert (folder / "file.gz").read_bytes() == PACKED
