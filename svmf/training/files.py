# SPDX-License-Identifier: MIT
"""Files of a run: read only if they are regular, written whole or not at all, locked by one process
at a time. Names that we make ourselves are never followed through a symbolic link."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from svmf.errors import RunError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Not every system has all of them. Without O_NONBLOCK the opening of a pipe waits for a writer.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextlib.contextmanager
def named_trouble(path: Path, what: str, after: str = "") -> Iterator[None]:
    """Errors of the system become one line: the path, what could not be done with it, and why."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise RunError(f"{_shown(path)}: {what}: {why}{after}") from error
    except ValueError as error:  # a nul character in the name, or text that is not text
        raise RunError(f"{_shown(path)}: {what}: {error}{after}") from error


def is_file(path: Path) -> bool:
    """Whether there is a regular file, or a link to one; names too long to exist included."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_file(path: Path, limit: int | None = None) -> bytes | None:
    """The content of a regular file, None if there is none. A pipe or a device is refused unread:
    it could block, or never end."""
    with named_trouble(path, "cannot be read"):
        try:
            descriptor = os.open(path, _READ)
        except FileNotFoundError:
            return None
        with open(descriptor, "rb") as stream:
            require_regular(path, descriptor)
            if limit is not None and os.fstat(descriptor).st_size > limit:
                raise RunError(f"{path}: larger than {limit >> 20} MiB")
            return stream.read()


def require_regular(path: Path, descriptor: int | None = None) -> None:
    """Refuses anything else, links to other files too; one that does not exist yet is fine."""
    with named_trouble(path, "cannot be read"):
        try:
            status = os.lstat(path) if descriptor is None else os.fstat(descriptor)
        except FileNotFoundError:
            return
    if stat.S_ISLNK(status.st_mode):
        raise RunError(f"{path}: a symbolic link; what it points to is not written to")
    if not stat.S_ISREG(status.st_mode):
        raise RunError(f"{path}: not a regular file")


def atomic_write(path: Path, content: bytes | memoryview) -> None:
    """The file has either its old content or all of the new one, after a crash too. The temporary
    name is new, so that nobody else's file is written through it."""
    temporary = path.with_name(f"{_temporary_prefix(path)}{secrets.token_hex(8)}.tmp")
    made = False
    with named_trouble(path, "cannot be written", "; what was there before is intact"):
        try:
            with temporary.open("xb") as stream:
                made = True
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:  # Ctrl-C too
            if made:
                temporary.unlink(missing_ok=True)
            raise


def remove_temporaries(path: Path) -> None:
    """What writers of this file left behind when they were killed."""
    for temporary in path.parent.glob(f"{_temporary_prefix(path)}*.tmp"):
        with contextlib.suppress(OSError):
            temporary.unlink()


def sync_folder(path: Path) -> None:
    """A new name itself must reach the disk. Windows cannot open a folder."""
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class FileLock:
    """One process at a time, by a file that may stay. The lock ends with the process, however."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """False if another process has it."""
        while True:
            descriptor = os.open(self._path, _LOCK, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise RunError(f"{self._path}: not a regular file")
                if not _lock(descriptor):
                    os.close(descriptor)
                    return False
                if self._is_still_there(descriptor):
                    self._descriptor = descriptor
                    return True
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # its last owner removed it in between: try the new one

    def release(self, remove: bool = False) -> None:
        if self._descriptor is not None:
            if remove:
                with contextlib.suppress(OSError):  # Windows keeps open files
                    self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = None

    def _is_still_there(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.lstat())
        except FileNotFoundError:
            return False


def _lock(descriptor: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _temporary_prefix(path: Path) -> str:
    return f".{path.name}."


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 else f"{text[:100]}...{text[-60:]}"
