"""./learn docs: builds the site, or the pages of one chapter alone, and serves it to this machine when asked."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from warp.base import build, install, pages, paths, progress, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import write_atomically
from warp.base.machine import Machine
from warp.chapter import chapters, freshness, run
from warp.chapter.chapters import Chapter
from warp.cli.options import Arguments


def main(arguments: Arguments) -> int:
    port = port_number(arguments.port, arguments.serve)
    if len(arguments.words) > 1 or (arguments.words and arguments.pdf):
        raise UsageError("docs takes one chapter, and without --pdf; or none, for the whole site")
    known = chapters.all_chapters()
    alone = [chapters.find(word, known) for word in arguments.words]
    machine = Machine()
    if not pages.folder() and not alone:
        ui.note(f"The site takes {pages.HOW_LONG}; ./learn docs 06 takes one chapter alone.")
    install.ensure(machine, "docs")
    python = install.ensure_venv(machine)
    if not alone:
        build_programs(machine)
    elif not has_kept_run(alone[0]):
        install.ensure(machine, "simulator", "test")
        what = f"chapter {alone[0].number} for the simulator"
        build.build("simulator", machine, what, [alone[0].name], patience=1.0)
    env = dict(os.environ, WARP_COMMIT=build.commit(), WARP_BUILD_DIR=paths.BUILD)
    # To compile Sphinx and what it imports takes a third of the time of a build after an edit of prose.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = os.path.join(paths.BUILD, "pycache")
    command = [python, os.path.join(paths.ROOT, "tools", "warp", "site", "build.py")]
    command += [word for chapter in alone for word in ("--only", chapter.key)]
    with build.lock("docs"):
        steps.run("Building its pages" if alone else "Building the site", command, "docs", env=env, cwd=paths.ROOT)
    folder = os.path.join(paths.BUILD, "docs", "alone" if alone else "", "html")
    index = os.path.join(folder, f"chapters/{alone[0].key}.html" if alone else "index.html")
    if not os.path.exists(index):
        raise LearnError(f"tools/warp/site/build.py ended well but wrote no {paths.shown(index)}")
    pages.note_passed(progress.read())
    ui.say(("The chapter, without the rest of the site: " if alone else "The site: ") + paths.shown(index))
    if arguments.pdf:
        print_short_path(machine, folder)
    if arguments.serve:
        return serve(folder, port)
    ui.say("Open it in a browser, or: ./learn " + " ".join(["docs", *(one.number for one in alone), "--serve"]))
    return 0


def build_programs(machine: Machine) -> None:
    """The programs whose counts the pages show, less those that are not built and whose run is kept in the repository. After an edit
    of prose alone they are left as they are."""
    known = chapters.all_chapters()
    stamp = Path(paths.BUILD, "docs", "programs.json")
    code, targets, root = {}, [], Path(paths.ROOT)
    for chapter in known:
        if chapter.problem:
            raise LearnError(chapter.problem)
        code[chapter.key] = freshness.code_of(Path(chapter.source))["digest"]
        if not has_kept_run(chapter):
            targets.append(chapter.name)
    beside = Path(paths.build_folder("simulator"), "tests", "simulator", "microkernels", "microkernels")
    if beside.exists() or run.kept_launches(root) is None:
        targets += ["microkernels", "agreement"]  # their counts are shown beside the hardware's
    if not targets:
        return
    install.ensure(machine, "simulator", "test")
    if read_stamp(stamp) == {"code": code, "programs": programs_of(known)}:
        compiled = [root / name for name in ("common", "cmake", "CMakeLists.txt", "CMakePresets.json")]
        compiled += [root / "tests" / "simulator" / name for name in ("microkernels", "agreement")]
        if freshness.newest(compiled) < stamp.stat().st_mtime:
            return
    stamp.unlink(missing_ok=True)
    began = time.time()
    build.build("simulator", machine, "the chapters for the simulator", [*targets, "simtcc", "simt"], testing=True)
    write_atomically(stamp, json.dumps({"code": code, "programs": programs_of(known)}))
    os.utime(stamp, (began, began))  # what is edited while it builds is newer


def has_kept_run(chapter: Chapter) -> bool:
    """Its program is not built, and the repository has the run of this code."""
    return not Path(chapter.program("simulator")).exists() and run.kept_of(Path(chapter.source)) is not None


def programs_of(known: list[Chapter]) -> dict[str, int]:
    """When each program was made: after a run of edited code that is taken back, it is not the program of this code."""
    files = {chapter.key: Path(chapter.program("simulator")) for chapter in known}
    return {key: file.stat().st_mtime_ns if file.exists() else 0 for key, file in files.items()}


def read_stamp(stamp: Path) -> dict[str, dict[str, Any]] | None:
    try:
        return json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def port_number(text: str | None, serving: bool) -> int:
    if text is None:
        return 8000
    if not serving:
        raise UsageError("--port goes with --serve")
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 65536:
        raise UsageError(f"--port {text}: legal is 1 ... 65535")
    return int(text)


def print_short_path(machine: Machine, folder: str) -> None:
    """Each chapter of the short path as a PDF, printed by Chromium from its page."""
    browser = machine.chromium()
    if not browser:
        raise LearnError("--pdf needs chromium, and there is none: ./learn setup --all brings it")
    place = os.path.join(paths.BUILD, "docs", "pdf")
    steps.make_folder(place)
    for chapter in (one for one in chapters.all_chapters() if one.on_short_path):
        page, file = Path(folder, "chapters", chapter.key + ".html"), os.path.join(place, chapter.key + ".pdf")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        steps.run(f"Printing chapter {chapter.number}", [*command, f"--print-to-pdf={file}", page.as_uri()], "pdf")
        if not os.path.exists(file):
            raise LearnError(f"{browser} ended well but wrote no {paths.shown(file)}")
    ui.say("The short path to print: " + paths.shown(place))


def handler_of(folder: str) -> Any:
    """Answers with the files of a folder, and with its 404.html for an address that is wrong, as a host does."""
    import functools
    import http.server

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: str) -> None:
            pass

        def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
            page = Path(folder, "404.html")
            if code != 404 or not page.exists():
                super().send_error(code, message, explain)
                return
            body = page.read_bytes().replace(b"<head>", b'<head><base href="/">', 1)
            self.send_response(404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return functools.partial(Quiet, directory=folder)


def serve(folder: str, port: int) -> int:
    """Serves a folder to this machine alone, until Ctrl-C."""
    import http.server

    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler_of(folder))
    except OSError as error:
        raise LearnError(f"port {port} cannot be used ({error.strerror}); another one: --port 8001")
    with server:
        ui.say(f"Serving http://127.0.0.1:{port}/ until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            ui.say()
    return 0
