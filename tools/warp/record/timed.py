"""Steps that share one limit of time: each is reported in one line, and none can hang the rest."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from warp.base import steps, ui

LEAST = 5  # seconds that a step needs to be begun at all
OK, FAIL, SKIP = "ok", "FAIL", "SKIP"


class Steps:
    """Runs commands one after the other within `seconds`, and remembers how each went."""

    def __init__(self, seconds: int, folder: str) -> None:
        self.end = time.monotonic() + seconds
        self.folder = folder  # of the logs
        self.lines: list[str] = []
        self.failed = 0
        steps.make_folder(folder)

    def left(self) -> float:
        return self.end - time.monotonic()

    def report(self, word: str, name: str, seconds: float | None = None, note: str = "") -> None:
        """One line of the summary, shown at once."""
        took = f"{seconds:4.0f} s" if seconds is not None else "      "
        line = f"{word:4}  {name:44} {took}  {note}".rstrip()
        self.lines.append(line)
        self.failed += word == FAIL
        colour = {OK: "green", FAIL: "red", SKIP: "yellow"}[word]
        ui.say(ui.palette()(colour, line[:4]) + line[4:])

    def run(
        self,
        name: str,
        seconds: float,
        command: Sequence[str],
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        permitted: Callable[..., Any] | None = None,
    ) -> tuple[str, str]:
        """Whether the command succeeded within `seconds` and the time that is left; (its word, what it printed).

        `permitted(output)` may turn a failure into a SKIP: it returns the reason, or "".
        """
        seconds = min(seconds, self.left())
        if seconds < LEAST:
            self.report(FAIL, name, note="no time left: more --seconds, or fewer chapters")
            return FAIL, ""
        began = time.monotonic()
        code, output = follow(command, seconds, env, cwd)
        took = time.monotonic() - began
        log = os.path.join(self.folder, name.replace(" ", "_").replace("/", "_") + ".log")
        with open(log, "w", encoding="utf-8") as file:
            file.write("$ " + " ".join(map(shlex.quote, map(str, command))) + "\n" + output)
        reason = permitted(output) if permitted and code != 0 else ""
        if code == 0:
            self.report(OK, name, took)
            return OK, output
        if reason:
            self.report(SKIP, name, took, reason)
            return SKIP, output
        how = f"took longer than {seconds:.0f} s" if code is None else steps.ended(code)
        last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
        self.report(FAIL, name, took, f"{how}: {last[:120]}")
        return FAIL, output


def follow(
    command: Sequence[str], seconds: float, env: dict[str, str] | None = None, cwd: str | None = None
) -> tuple[int | None, str]:
    """(exit code, output) of a command and all that it starts; the code is None where it took too long."""
    # Ended from outside while the program starts: that waits until there is something to end.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
        )
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return 127, f"{command[0]}: {error.strerror}\n"
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output.decode("utf-8", "replace")
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
