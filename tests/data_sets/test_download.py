# SPDX-License-Identifier: MIT
"""The downloader against a local server that behaves, and against several that do not."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from svmf.catalogue import COLLECTIONS, Collection, RemoteFile
from svmf.data.download import download
from svmf.errors import DataError

CONTENT = bytes(range(256)) * 2000
PACKED = gzip.compress(CONTENT, mtime=0)


class Server:
    """Serves `body`; `cut` closes the connection after so many bytes of a response."""

    def __init__(self):
        self.body, self.cut, self.status, self.ranges = PACKED, None, 200, True
        self.requests: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = self.headers.get("Range")
                outer.requests.append(wanted)
                if outer.status != 200:
                    self.send_error(outer.status)
                    return
                start = int(wanted.split("=")[1].rstrip("-")) if wanted and outer.ranges else 0
                if start and start >= len(outer.body):
                    self.send_error(416)
                    return
                rest = outer.body[start:]
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                self.wfile.write(rest if outer.cut is None else rest[: outer.cut])

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def collection(*mirrors, name="file.gz", content=CONTENT):
    digest = hashlib.sha256(content).hexdigest()
    return Collection("set", mirrors, (RemoteFile(name, digest, len(content)),))


def test_download_verifies_and_stays(tmp_path, server):
    folder = download(collection(server.url), tmp_path)
    assert (folder / "file.gz").read_bytes() == PACKED
    assert [path.name for path in folder.iterdir()] == ["file.gz"]
    download(collection(server.url), tmp_path)
    assert len(server.requests) == 1, "a file that is there and right is not fetched again"


def test_content_counts_not_compression(tmp_path, server):
    server.body = gzip.compress(CONTENT, compresslevel=1, mtime=7)
    download(collection(server.url), tmp_path)


def test_corrupt_file_in_place_is_replaced(tmp_path, server):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "file.gz").write_bytes(PACKED[:100])
    folder = download(collection(server.url), tmp_path)
    assert (folder / "file.gz").read_bytes() == PACKED


def test_broken_connection_is_resumed(tmp_path, server):
    server.cut = len(PACKED) // 2 + 1
    folder = download(collection(server.url), tmp_path)
    assert (folder / "file.gz").read_bytes() == PACKED
    assert server.requests == [None, f"bytes={server.cut}-"]


def test_part_of_an_earlier_call_is_continued(tmp_path, server):
    server.cut = 50
    with pytest.raises(DataError, match="could not be downloaded"):
        download(collection(server.url), tmp_path)
    assert not (tmp_path / "set" / "file.gz").exists()
    server.cut = None
    server.requests.clear()
    download(collection(server.url), tmp_path)
    assert server.requests == ["bytes=150-"], "three attempts brought 50 bytes each"


def test_server_without_ranges(tmp_path, server):
    server.ranges, server.cut = False, 50
    with pytest.raises(DataError):
        download(collection(server.url), tmp_path)
    server.cut = None
    folder = download(collection(server.url), tmp_path)
    assert (folder / "file.gz").read_bytes() == PACKED


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (gzip.compress(CONTENT[:-1] + b"x"), "wrong content"),
        (b"<html>login</html>", "not a sound gzip file"),
        (gzip.compress(CONTENT + b"x"), "larger than"),
        (gzip.compress(bytes(10**8)), "larger than"),
        (bytes(len(CONTENT) + 10**6), "larger than"),
    ],
)
def test_wrong_content_is_refused_and_removed(tmp_path, server, body, reason):
    server.body = body
    with pytest.raises(DataError, match=reason):
        download(collection(server.url), tmp_path)
    assert list((tmp_path / "set").iterdir()) == []


def test_next_mirror_helps(tmp_path, server):
    bad = Server()
    bad.status = 404
    wrong = Server()
    wrong.body = gzip.compress(b"other")
    try:
        closed = "http://127.0.0.1:9/"
        folder = download(collection(closed, bad.url, wrong.url, server.url), tmp_path)
        assert (folder / "file.gz").read_bytes() == PACKED
    finally:
        bad.close()
        wrong.close()


def test_plain_files(tmp_path, server):
    server.body = CONTENT
    folder = download(collection(server.url, name="ind.x"), tmp_path)
    assert (folder / "ind.x").read_bytes() == CONTENT


def test_unwritable_folder(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(DataError, match="cannot be made"):
        download(collection("http://127.0.0.1:9/"), blocker)


def test_catalogue_knows_the_real_files(data_dir):
    """The checksums of the catalogue are those of the real files."""
    for name, real in COLLECTIONS.items():
        folder = data_dir / name
        if not folder.is_dir():
            pytest.skip(f"no {name} among the data sets")
        for file in real.files:
            content = (folder / file.name).read_bytes()
            if file.name.endswith(".gz"):
                content = gzip.decompress(content)
            assert hashlib.sha256(content).hexdigest() == file.sha256, file.name
            assert file.content_bytes in (None, len(content))
