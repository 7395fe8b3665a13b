# SPDX-License-Identifier: MIT
"""Fetches the files of a collection: several mirrors, resumable, verified before they appear.

Whatever a mirror does, the next one is tried: only this machine's own disk ends a download early.

A download grows in a hidden `.part` file. It gets its real name, atomically, only once its content
has the known checksum; a part with wrong content is deleted, a short one is continued next time.
"""

import contextlib
import gzip
import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from svmf.catalogue import MAX_CONTENT_BYTES, Collection, RemoteFile
from svmf.data.patient_http import Clock, make_opener
from svmf.errors import DataError, one_line
from svmf.progress import ProgressLine

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30
# A mirror has the patience, and one second more for each so many bytes: MNIST's largest file has
# 10 MB, and so at most 20 minutes. A byte every half second is given up after one minute.
_PATIENCE_SECONDS = 60
_LEAST_BYTES_PER_SECOND = 8192
_ATTEMPTS_PER_MIRROR = 3
_SLACK_BYTES = 1 << 16  # a compressed file may be larger than its content by its headers


class _WrongContentError(Exception):
    """The bytes are complete and are not the file."""


def download(
    collection: Collection,
    root: Path,
    mirrors: Sequence[str] = (),
    progress: ProgressLine | None = None,
) -> Path:
    """Brings every file of the collection to `root/<folder>`; files that are there stay."""
    progress = progress or ProgressLine(enabled=False)
    folder = root / collection.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}") from error
    for file in collection.files:
        target = folder / file.name
        if target.exists() and _problem(target, file) is None:
            progress.line(f"{target}: there")
            continue
        _fetch(file, target, [*mirrors, *collection.mirrors], progress)
        progress.line(f"{target}: downloaded and verified")
    return folder


def _fetch(file: RemoteFile, target: Path, mirrors: Sequence[str], progress: ProgressLine) -> None:
    reasons = []
    for mirror in mirrors:
        url = mirror.rstrip("/") + "/" + file.name
        # a part belongs to one address: mirrors may compress the same content differently
        tag = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:8]
        part = target.with_name(f".{target.name}.{tag}.part")
        try:
            _fetch_from(url, file, part, progress)
        except DataError:  # of this machine: another mirror does not help
            raise
        except _WrongContentError as error:
            with _disk(part):
                part.unlink(missing_ok=True)
            reasons.append(f"{url}: {error}")
        except Exception as error:  # a server, or an address that is none, can raise anything
            reasons.append(f"{url}: {_why(error)}")
        else:
            with _disk(target):
                os.replace(part, target)
            return
    raise DataError(f"{file.name} could not be downloaded: " + "; ".join(reasons))


def _why(error: Exception) -> str:
    """A function of its own: a variable beside `error` would keep it, and its socket, alive."""
    reason = getattr(error, "reason", None) or error
    return one_line(str(reason) or type(reason).__name__, 200)


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    """An OSError in here is one of the disk and not of a server."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from error


def _fetch_from(url: str, file: RemoteFile, part: Path, progress: ProgressLine) -> None:
    clock = Clock(_PATIENCE_SECONDS, _LEAST_BYTES_PER_SECOND, _TIMEOUT_SECONDS)
    for attempt in range(_ATTEMPTS_PER_MIRROR):
        last = attempt == _ATTEMPTS_PER_MIRROR - 1
        try:
            _continue_part(url, file, part, progress, clock)
        except (http.client.IncompleteRead, ConnectionError, TimeoutError):
            if last:
                raise
            continue
        problem = _problem(part, file)
        if problem is None:
            return
        if last or not problem.startswith("truncated"):
            raise _WrongContentError(problem)


def _continue_part(
    url: str, file: RemoteFile, part: Path, progress: ProgressLine, clock: Clock
) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "svmf"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = make_opener(clock).open(request, timeout=clock.next_timeout())
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:  # nothing is left to send: the part is whole, or wrong
                return
        raise
    with response:
        if response.status != 206:
            have = 0  # the server ignored the range and starts from the beginning
        # http.client has read the header with care; None: absent or nonsense, or a file
        length = getattr(response, "length", None)
        total = have + length if length is not None else None
        limit = (file.content_bytes or MAX_CONTENT_BYTES) + _SLACK_BYTES
        if total is not None and total > limit:
            raise _WrongContentError(f"announces {total:,} bytes, larger than {limit:,}")
        with _disk(part):
            sink = _open_part(part, have)
        with sink:
            while chunk := response.read1(_CHUNK):
                with _disk(part):
                    sink.write(chunk)
                have += len(chunk)
                if have > limit:
                    raise _WrongContentError(f"larger than {limit:,} bytes")
                progress.update(have / total if total else 0.0, f"{file.name} {have / 1e6:.1f} MB")
            with _disk(part):
                sink.flush()
                os.fsync(sink.fileno())
        if total is not None and have < total:
            raise http.client.IncompleteRead(b"", total - have)


def _open_part(part: Path, have: int) -> BinaryIO:
    """The part, to go on after `have` bytes. A link in its place is not followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (0 if have else os.O_TRUNC)
    sink = os.fdopen(os.open(part, flags, 0o666), "wb")
    sink.seek(have)
    return sink


def _problem(path: Path, file: RemoteFile) -> str | None:
    """What is wrong with the content, or None."""
    limit = file.content_bytes or MAX_CONTENT_BYTES
    digest, seen = hashlib.sha256(), 0
    try:
        # the part's own name says nothing of its kind
        with gzip.open(path, "rb") if file.name.endswith(".gz") else path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                seen += len(chunk)
                if seen > limit:
                    return f"content is larger than {limit:,} bytes"
    except EOFError:
        return f"truncated after {seen:,} bytes of content"
    except (gzip.BadGzipFile, zlib.error) as error:
        return f"not a sound gzip file: {error}"
    if digest.hexdigest() != file.sha256:
        return f"wrong content: SHA-256 is {digest.hexdigest()}, expected {file.sha256}"
    return None
