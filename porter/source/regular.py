"""Reading files that may be anything: what is no regular file is never opened to wait for it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

#: bytes of a source file or a setting, and of everything that may hold pictures or data
MOST = 1 << 20
MOST_DATA = 64 << 20


class NotRegular(OSError):
    """A pipe, a device, a socket, a broken link, or a file that is too large to be meant."""


def read_regular(path: str | Path, most: int = MOST) -> bytes:
    """The content of a regular file. Raises OSError, NotRegular among them."""
    try:
        found = os.stat(path)
    except OSError as error:
        if os.path.islink(path):
            raise NotRegular(error.errno or errno.ENOENT, "a broken link") from error
        raise
    _check(found, most)
    # what it was a moment ago it need not be any more
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        _check(os.fstat(handle), most)
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(most)
    return content


def read_regular_text(path: str | Path, most: int = MOST) -> str:
    """The same as UTF-8 with `\\n` at line ends. Raises OSError and UnicodeDecodeError."""
    return read_regular(path, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _check(found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(errno.EINVAL, "not a regular file")
    if found.st_size > most:
        raise _too_large(most)


def _too_large(most: int) -> NotRegular:
    return NotRegular(errno.EFBIG, f"larger than {most >> 20} MiB, which porter reads at most")
