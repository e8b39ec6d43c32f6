"""Runs one program as a step: progress on the terminal, everything it says in a log."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from typing import IO, Any, TextIO

from warp.base import paths, ui
from warp.base.errors import LearnError
from warp.base.text import there
from warp.base.ui import Progress

TAIL_LINES = 40


class StepFailed(LearnError):
    """A step's program did not succeed; `output` is all that it said."""

    def __init__(self, title: str, code: int, output: str, log: str) -> None:
        super().__init__(f"{title} failed ({ended(code)}); the whole log is in {paths.shown(log)}")
        self.detail = tail(output)
        self.returncode = code
        self.output = output
        self.log = log


def ended(code: int) -> str:
    """How a program ended, in words: exit code 2, SIGSEGV."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def tail(output: str, lines: int = TAIL_LINES) -> str:
    kept = output.rstrip().splitlines()
    if len(kept) > lines:
        kept = [f"... ({len(kept) - lines} lines before)"] + kept[-lines:]
    return "\n".join(kept)


def make_folder(folder: str) -> None:
    """Creates a folder for outputs, or says in one line why it cannot."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise LearnError(
            f"cannot write to {folder} ({error.strerror}); set WARP_BUILD_DIR to a folder that you may write to"
        )


def open_log(name: str) -> tuple[str, Any]:
    make_folder(paths.LOGS)
    path = os.path.join(paths.LOGS, name + ".log")
    try:
        return path, open(path, "wb")
    except OSError as error:
        raise LearnError(f"cannot write {path}: {error.strerror}")


def stop(process: Any) -> None:
    """Ends a program that we started: asks first, insists after a few seconds."""
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        try:
            process.send_signal(how)
            process.wait(timeout=5)
        except (subprocess.TimeoutExpired, ProcessLookupError, PermissionError):
            continue


def stop_all(process: Any) -> None:
    """Ends a program that leads a session, and what it started: make, and the compilers of make."""
    try:
        os.killpg(process.pid, signal.SIGINT)
        stop(process)
        os.killpg(process.pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        pass  # none is left


def run(
    title: str,
    command: list[str],
    log: str,
    env: dict[str, str] | None = None,
    cwd: str | None = None,
    note_of: Callable[..., Any] | None = None,
    check: bool = True,
    patience: float = 0.0,
    own_session: bool = True,
) -> tuple[int, str]:
    """Runs `command` as a step and returns (exit code, output).

    `log` names the file in build/logs; `note_of(line)` turns a line of output into the note beside
    the elapsed seconds, or returns None. With `check` a failure raises StepFailed. A step that is over
    within `patience` seconds is not mentioned. With `own_session` what `command` starts ends with it when we
    are ended; without, sudo knows the terminal at which it asked for a password.
    """
    log_path, log_file = open_log(log)
    with log_file:
        log_file.write(("$ " + " ".join(shlex.quote(part) for part in command) + "\n").encode())
        log_file.flush()
        failure = None
        try:
            with ui.Progress(title, patience=patience) as progress:
                code, output = _follow(command, env, cwd, log_file, progress, note_of, own_session)
                if check and code != 0:
                    failure = StepFailed(title, code, output, log_path)
                    raise failure
        except OSError as error:
            raise LearnError(f"{title}: cannot run {command[0]}: {error.strerror}")
    return code, output


def _follow(
    command: list[str],
    env: dict[str, str] | None,
    cwd: str | None,
    log_file: IO[bytes],
    progress: Progress,
    note_of: Callable[..., Any] | None,
    own_session: bool,
) -> tuple[int, str]:
    import selectors

    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=cwd,
        start_new_session=own_session,
    )
    told = there(process.stdout)
    output = bytearray()
    line_start = 0
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(told, selectors.EVENT_READ)
            while True:
                if selector.select(timeout=0.25):
                    chunk = os.read(told.fileno(), 65536)
                    if not chunk:
                        break
                    output += chunk
                    log_file.write(chunk)
                    log_file.flush()
                    note = None
                    while note_of and (end := output.find(b"\n", line_start)) >= 0:
                        line = output[line_start:end].decode("utf-8", "replace")
                        line_start = end + 1
                        note = note_of(line) or note
                    progress.update(note)
                else:
                    progress.update()
        code = process.wait()
    except BaseException:
        (stop_all if own_session else stop)(process)
        raise
    finally:
        told.close()
    return code, output.decode("utf-8", "replace")


def start(
    command: list[str], env: dict[str, str] | None = None, cwd: str | None = None, stdout: TextIO | None = None
) -> int:
    """Runs a program in the foreground, on the reader's own terminal; returns its exit code."""
    import sys

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=stdout)
    except OSError as error:
        raise LearnError(f"cannot run {paths.shown(command[0])}: {error.strerror}")
    try:
        return process.wait()
    except BaseException:
        stop(process)
        raise


def start_and_hold(
    command: list[str],
    begins: str,
    hold: Callable[[str], object],
    env: dict[str, str] | None = None,
    stdout: TextIO | None = None,
) -> tuple[int, list[str]]:
    """Like start(), but keeps back the lines on standard error for which hold(line) is true.

    All of these start with `begins`, so any other line passes at once, an unfinished one too.
    Returns (exit code, the lines kept back).
    """
    import sys

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        process = subprocess.Popen(command, env=env, stdout=stdout, stderr=subprocess.PIPE)
    except OSError as error:
        raise LearnError(f"cannot run {paths.shown(command[0])}: {error.strerror}")
    told = there(process.stderr)
    held: list[str] = []
    begun, first = b"", begins.encode()

    def sort(line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if hold(text):
            held.append(text)
        else:
            sys.stderr.write(text)
            sys.stderr.flush()

    try:
        while piece := os.read(told.fileno(), 65536):
            *lines, begun = (begun + piece).split(b"\n")
            for line in lines:
                sort(line + b"\n")
            if begun and not first.startswith(begun[: len(first)]):
                sort(begun)
                begun = b""
        if begun:
            sort(begun)
        return process.wait(), held
    except BaseException:
        stop(process)
        raise
    finally:
        told.close()


def ask(command: list[str], timeout: int = 20) -> str | None:
    """What a program prints on stdout and stderr, or None if it is missing or fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return done.stdout.decode("utf-8", "replace")
