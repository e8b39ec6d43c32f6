"""Where things are. Everything is relative to the folder that holds ./learn."""

from __future__ import annotations

import os

ROOT = os.path.abspath(__file__ + "/../../../..")
CHAPTERS = os.path.join(ROOT, "chapters")

# WARP_BUILD_DIR puts every output elsewhere: for a checkout on a slow or read-only disk.
BUILD = os.path.abspath(os.environ.get("WARP_BUILD_DIR") or os.path.join(ROOT, "build"))
LOGS = os.path.join(BUILD, "logs")
VENV = os.path.join(BUILD, "venv")


def build_folder(backend: str) -> str:
    """The one build folder of a backend ("gpu" or "simulator")."""
    return os.path.join(BUILD, backend)


def last_results(backend: str, chapter: str, part: bool = False) -> str:
    """The results file that ./learn run writes for a chapter, whether asked for one or not; of a run of some rungs
    only, another one."""
    return os.path.join(BUILD, "results", backend, chapter + (".part.json" if part else ".json"))


def shown(path: str) -> str:
    """The path as a reader would type it: relative if it lies below the current folder."""
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):
        return path
    return path if relative.startswith("..") else relative
