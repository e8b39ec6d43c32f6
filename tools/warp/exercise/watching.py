"""Waits until a file is saved: with the kernel's inotify where there is one, else by looking again and again."""

from __future__ import annotations

import os
import select
import struct
import time
from typing import Any

POLL = 0.3  # seconds between two looks
CLOSE_WRITE, MOVED_TO, NONBLOCK = 0x8, 0x80, 0o4000


class Inotify:
    """Folders, watched by the kernel. Editors write a new file and move it over the old one, so files are no use."""

    name = "inotify"

    def __init__(self, folders: list[str]) -> None:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(NONBLOCK)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.folders = {}
        for folder in folders:
            watch = libc.inotify_add_watch(self.descriptor, os.fsencode(folder), CLOSE_WRITE | MOVED_TO)
            if watch < 0:
                os.close(self.descriptor)
                raise OSError(ctypes.get_errno(), folder)
            self.folders[watch] = folder

    def wait(self) -> Any:
        """The files that were saved; at least one name, not all of them of interest."""
        select.select([self.descriptor], [], [])
        time.sleep(0.05)  # an editor's several steps are one save
        data, saved = os.read(self.descriptor, 65536), set()
        while data:
            watch, _, _, length = struct.unpack_from("iIII", data)
            name = data[16 : 16 + length].rstrip(b"\0")
            saved.add(os.path.join(self.folders[watch], os.fsdecode(name)))
            data = data[16 + length :]
        return saved


class Polling:
    """The same by comparing times and sizes."""

    name = "polling"

    def __init__(self, folders: list[str]) -> None:
        self.folders = list(folders)
        self.seen = self._look()

    def _look(self) -> Any:
        found = {}
        for folder in self.folders:
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                try:
                    state = entry.stat()
                except OSError:
                    continue
                found[entry.path] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return found

    def wait(self) -> Any:
        while True:
            time.sleep(POLL)
            now, before = self._look(), self.seen
            self.seen = now
            saved = {file for file, state in now.items() if before.get(file) != state}
            if saved:
                return saved


def watcher(folders: list[str]) -> Any:
    """The best that this machine and its file system have. WARP_POLL=1 asks for polling."""
    if not os.environ.get("WARP_POLL"):
        try:
            return Inotify(folders)
        except (OSError, AttributeError, ImportError):
            pass
    return Polling(folders)
