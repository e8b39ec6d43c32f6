"""./learn docs: builds the site, and serves it to this machine when asked."""

import json
import os
import time
from pathlib import Path

from warp.base import build, install, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import write_atomically
from warp.base.machine import Machine
from warp.chapter import chapters, freshness


def main(arguments):
    port = port_number(arguments.port, arguments.serve)
    machine = Machine()
    install.ensure(machine, "simulator", "test", "docs")
    python = install.ensure_venv(machine)
    build_programs(machine)
    env = dict(os.environ, WARP_COMMIT=build.commit(), WARP_BUILD_DIR=paths.BUILD)
    # To compile Sphinx and what it imports takes a third of the time of a build after an edit of prose.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = os.path.join(paths.BUILD, "pycache")
    with build.lock("docs"):
        steps.run(
            "Building the site", [python, os.path.join(paths.ROOT, "docs", "build.py")], "docs", env=env, cwd=paths.ROOT
        )
    folder = os.path.join(paths.BUILD, "docs", "html")
    index = os.path.join(folder, "index.html")
    if not os.path.exists(index):
        raise LearnError(f"docs/build.py ended well but wrote no {paths.shown(index)}")
    ui.say("The site: " + paths.shown(index))
    if arguments.serve:
        return serve(folder, port)
    ui.say("Open it in a browser, or: ./learn docs --serve")
    return 0


def build_programs(machine):
    """The programs whose counts the pages show. After an edit of prose alone they are left as they are."""
    known = chapters.all_chapters()
    stamp = Path(paths.BUILD, "docs", "programs.json")
    code = {}
    for chapter in known:
        if chapter.problem:
            raise LearnError(chapter.problem)
        code[chapter.key] = freshness.code_of(Path(chapter.source))["digest"]
    if read_stamp(stamp) == {"code": code, "programs": programs_of(known)}:
        root = Path(paths.ROOT)
        compiled = [root / name for name in ("common", "cmake", "CMakeLists.txt", "CMakePresets.json")]
        compiled += [root / "tests" / "simulator" / name for name in ("microkernels", "agreement")]
        if freshness.newest(compiled) < stamp.stat().st_mtime:
            return
    stamp.unlink(missing_ok=True)
    began = time.time()
    targets = [chapter.name for chapter in known] + ["simtcc", "simt"]
    targets += ["microkernels", "agreement"]  # their counts are shown beside the hardware's
    build.build("simulator", machine, "the chapters for the simulator", targets, testing=True)
    write_atomically(stamp, json.dumps({"code": code, "programs": programs_of(known)}))
    os.utime(stamp, (began, began))  # what is edited while it builds is newer


def programs_of(known):
    """When each program was made: after a run of edited code that is taken back, it is not the program of this code."""
    files = {chapter.key: Path(chapter.program("simulator")) for chapter in known}
    return {key: file.stat().st_mtime_ns if file.exists() else 0 for key, file in files.items()}


def read_stamp(stamp):
    try:
        return json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def port_number(text, serving):
    if text is None:
        return 8000
    if not serving:
        raise UsageError("--port goes with --serve")
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 65536:
        raise UsageError(f"--port {text}: legal is 1 ... 65535")
    return int(text)


def serve(folder, port):
    """Serves a folder to this machine alone, until Ctrl-C."""
    import functools
    import http.server

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments):
            pass

    handler = functools.partial(Quiet, directory=folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise LearnError(f"port {port} cannot be used ({error.strerror}); another one: --port 8001")
    with server:
        ui.say(f"Serving http://127.0.0.1:{port}/ until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            ui.say()
    return 0
