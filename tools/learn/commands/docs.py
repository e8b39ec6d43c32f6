"""./learn docs: builds the site, and serves it to this machine when asked."""

import os

from learn import build, install, paths, steps, ui
from learn.errors import LearnError, UsageError
from learn.machine import Machine


def main(arguments):
    port = port_number(arguments.port, arguments.serve)
    machine = Machine()
    install.ensure(machine, "simulator", "test", "docs")
    python = install.ensure_venv(machine)
    # The pages show the counts of every chapter: its program must be there.
    from learn import chapters

    targets = [chapter.name for chapter in chapters.all_chapters()] + ["simtcc", "simt"]
    targets += ["microkernels", "agreement"]  # their counts are shown beside the hardware's
    build.build("simulator", machine, "the chapters for the simulator", targets, testing=True)
    env = dict(os.environ, WARP_COMMIT=build.commit(), WARP_BUILD_DIR=paths.BUILD)
    with build.lock("docs"):
        steps.run(
            "Building the site", [python, os.path.join(paths.ROOT, "docs", "build.py")], "docs", env=env, cwd=paths.ROOT
        )
    folder = os.path.join(paths.BUILD, "docs", "html")
    index = os.path.join(folder, "index.html")
    if not os.path.exists(index):
        raise LearnError("docs/build.py ended well but wrote no %s" % paths.shown(index))
    ui.say("The site: " + paths.shown(index))
    if arguments.serve:
        return serve(folder, port)
    ui.say("Open it in a browser, or: ./learn docs --serve")
    return 0


def port_number(text, serving):
    if text is None:
        return 8000
    if not serving:
        raise UsageError("--port goes with --serve")
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 65536:
        raise UsageError("--port %s: legal is 1 ... 65535" % text)
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
        raise LearnError("port %d cannot be used (%s); another one: --port 8001" % (port, error.strerror))
    with server:
        ui.say("Serving http://127.0.0.1:%d/ until Ctrl-C" % port)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            ui.say()
    return 0
