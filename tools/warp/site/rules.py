"""./learn author rules: compiles the simulator's counting rules to WebAssembly, for the live figures, and writes
docs/_static/rules.js.

Whoever changes the rules runs it and commits what it writes; a test compares the digest of the sources, and the bytes where the same
clang is. It needs clang and lld with the headers of wasm32: on Debian 12 `clang-14 lld-14 libc++-14-dev-wasm32 wasi-libc`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from warp.base import ui
from warp.base.errors import LearnError

ROOT = Path(__file__).resolve().parents[3]
SIMT = ROOT / "common" / "simt"
COMPILED = [Path(__file__).with_name("rules.cpp"), SIMT / "count" / "rules.cpp", SIMT / "base" / "lane_simd.cpp"]
INCLUDED = [SIMT / "include" / "simt" / "counting.h", SIMT / "base" / "lane_simd.h"]
WRITTEN = ROOT / "docs" / "_static" / "rules.js"
FLAGS = [
    "--target=wasm32-wasi",
    "-std=c++20",
    "-Oz",
    "-fno-exceptions",
    "-fno-rtti",
    "-nostartfiles",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
]


class NoCompiler(LearnError):
    """What is missing, in one line."""


def digest() -> str:
    """Of the sources, and of how they are compiled."""
    found = hashlib.sha256(" ".join(FLAGS).encode())
    for path in [*COMPILED, *INCLUDED]:
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


def compiler() -> tuple[str, str]:
    """clang++ and its version."""
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if not clang:
        raise NoCompiler("clang++ is not installed")
    said = subprocess.run([clang, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"\d+\.\d+\.\d+", said)
    return clang, version[0] if version else "unknown"


def compiled() -> bytes:
    """The module."""
    clang, _ = compiler()
    targets = subprocess.run([clang, "--print-targets"], capture_output=True, text=True).stdout
    if not re.search(r"^\s*wasm32\b", targets, re.MULTILINE):
        raise NoCompiler(f"{clang} has no target wasm32")
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "rules.wasm"
        command = [clang, *FLAGS, f"-I{SIMT / 'include'}", f"-I{SIMT}", "-o", str(module), *map(str, COMPILED)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            missing = re.search(r"unable to find library.*|'[\w/.]+' file not found|unable to execute.*", done.stderr)
            if missing:
                raise NoCompiler(f"{clang} cannot compile for wasm32: {missing[0]}")
            raise SystemExit(done.stderr)
        return module.read_bytes()


def written(module: bytes, version: str) -> str:
    """The module as a script of the page."""
    return (
        "// The simulator's counting rules as WebAssembly: ./learn author rules writes this file.\n"
        f"// sources {digest()}, clang {version}\n"
        f'const rulesModule = "{base64.b64encode(module).decode()}";\n'
    )


def main(_words: list[str]) -> int:
    module, version = compiled(), compiler()[1]
    WRITTEN.write_text(written(module, version), encoding="utf-8")
    ui.say(f"{WRITTEN.relative_to(ROOT)}: {len(module):,} bytes of WebAssembly")
    return 0
