# SPDX-License-Identifier: MIT
"""Fetches the files of a collection: several mirrors, resumable, verified before they appear.

A download grows in a hidden `.part` file. It gets its real name, atomically, only once its content
has the known checksum; a part with wrong content is deleted, a short one is continued next time.
"""

import gzip
import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Sequence
from pathlib import Path

from svmf.catalogue import MAX_CONTENT_BYTES, Collection, RemoteFile
from svmf.errors import DataError
from svmf.progress import ProgressLine

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30
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
        if target.exists() and _is_right(target, file):
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
        tag = hashlib.sha256(url.encode()).hexdigest()[:8]
        part = target.with_name(f".{target.name}.{tag}.part")
        try:
            _fetch_from(url, file, part, progress)
            os.replace(part, target)
            return
        except _WrongContentError as error:
            part.unlink(missing_ok=True)
            reasons.append(f"{url}: {error}")
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
            reasons.append(f"{url}: {getattr(error, 'reason', None) or error}")
        except ConnectionError as error:
            reasons.append(f"{url}: {error}")
        except OSError as error:
            raise DataError(f"{part}: cannot be written: {error.strerror or error}") from error
    raise DataError(f"{file.name} could not be downloaded: " + "; ".join(reasons))


def _fetch_from(url: str, file: RemoteFile, part: Path, progress: ProgressLine) -> None:
    for attempt in range(_ATTEMPTS_PER_MIRROR):
        last = attempt == _ATTEMPTS_PER_MIRROR - 1
        try:
            _continue_part(url, file, part, progress)
        except (http.client.IncompleteRead, ConnectionError, TimeoutError):
            if last:
                raise
            continue
        problem = _problem(part, file)
        if problem is None:
            return
        if last or not problem.startswith("truncated"):
            raise _WrongContentError(problem)


def _continue_part(url: str, file: RemoteFile, part: Path, progress: ProgressLine) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "svmf"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:  # nothing is left to send: the part is whole, or wrong
                return
        raise
    with response:
        if response.status != 206:
            have = 0  # the server ignored the range and starts from the beginning
        announced = response.headers.get("Content-Length")
        total = have + int(announced) if announced and announced.isdigit() else None
        limit = (file.content_bytes or MAX_CONTENT_BYTES) + _SLACK_BYTES
        with part.open("r+b" if have else "wb") as sink:
            sink.seek(have)
            while chunk := response.read(_CHUNK):
                sink.write(chunk)
                have += len(chunk)
                if have > limit:
                    raise _WrongContentError(f"larger than {limit:,} bytes")
                progress.update(have / total if total else 0.0, f"{file.name} {have / 1e6:.1f} MB")
            sink.flush()
            os.fsync(sink.fileno())
        if total is not None and have < total:
            raise http.client.IncompleteRead(b"", total - have)


def _is_right(path: Path, file: RemoteFile) -> bool:
    return _problem(path, file) is None


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
