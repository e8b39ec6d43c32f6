"""Files that a command writes: whether it can, and in one piece."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from warp.base import paths
from warp.base.errors import LearnError, UsageError


def check_writable(file: str, option: str = "--json") -> None:
    """UsageError unless a file could be written there."""
    folder = os.path.dirname(os.path.abspath(file))
    if os.path.isdir(file):
        raise UsageError(f"{option} {file}: that is a folder")
    if not os.path.isdir(folder):
        raise UsageError(f"{option} {file}: there is no folder {paths.shown(folder)}")
    if not os.access(file if os.path.exists(file) else folder, os.W_OK):
        raise UsageError(f"{option} {file}: no right to write there")


def forget(file: str) -> None:
    """Removes an old results file, so that what is read afterwards is this run's."""
    try:
        os.unlink(file)
    except OSError:
        pass


def write_output(option: str, file: str, content: bytes) -> None:
    """Writes a file that was asked for, or says in one line why it cannot."""
    try:
        with open(file, "wb") as opened:
            opened.write(content)
    except OSError as error:
        raise LearnError(f"{option} {file}: cannot be written: {error.strerror}")


def write_atomically(path: Path, data: str | bytes) -> None:
    """Writes a file so that a reader sees all of it or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data.encode() if isinstance(data, str) else data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
