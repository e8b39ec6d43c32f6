"""The front door: finds the command, reports what goes wrong in one line, decides the exit code."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from typing import Any

from warp.base import ui
from warp.base.errors import LearnError, UsageError
from warp.base.names import advice
from warp.base.text import there
from warp.cli import table
from warp.cli.options import parse

INTERRUPTED = 130


def help_text() -> str:
    paint = ui.palette()
    width = max(len(command.name) for command in table.visible())
    lines = ["usage: ./learn COMMAND ...    (./learn COMMAND --help tells more)"]
    for group, names in table.GROUPS:
        lines += ["", group]
        for name in names:
            lines.append("  {}  {}".format(paint("bold", name.ljust(width)), there(table.find(name)).summary))
    return "\n".join(lines)


def version() -> str:
    """Which course this is: its version, the commit and its day."""
    from warp.base import paths, steps

    with open(os.path.join(paths.ROOT, "VERSION"), encoding="utf-8") as file:
        number = file.read().strip()
    told = steps.ask(["git", "-C", paths.ROOT, "log", "-1", "--format=commit %h of %cs"])
    return f"Warp by Warp {number}, " + (told.strip() if told else "a copy without its history")


def dispatch(words: list[str]) -> int:
    if not words:
        from warp.cli.commands import home

        return home.main()
    name, rest = words[0], words[1:]
    if name in ("-h", "--help", "help"):
        command = table.find(rest[0]) if rest else None
        if rest and command is None:
            raise UsageError(unknown_command(rest[0]))
        ui.say(command.help() if command else help_text())
        return 0
    if name == "--version":
        if rest:
            raise UsageError(f"--version takes no argument '{rest[0]}'")
        ui.say(version())
        return 0
    command = table.find(name)
    if command is None:
        raise UsageError(unknown_command(name))
    arguments = parse(command, rest)
    if arguments.help:
        ui.say(command.help())
        return 0
    return importlib.import_module("warp.cli.commands." + command.module).main(arguments)


def unknown_command(name: str) -> str:
    return "unknown command '{}'{}".format(
        name,
        advice(name, [command.name for command in table.visible()], "./learn --help lists the commands"),
    )


def leave(how: int, _: Any) -> None:
    """Ended from outside: as an exception, so that what was started is ended too."""
    raise SystemExit(128 + how)


def main(words: list[str]) -> int:
    for how in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(how) != signal.SIG_IGN:  # as nohup has it
            signal.signal(how, leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = dispatch(words)
        sys.stdout.flush()
        return code
    except LearnError as error:
        sys.stdout.flush()
        ui.report(error)
        return error.code
    except KeyboardInterrupt:
        ui.note("learn: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`./learn list | head -1`): nothing more to say, and no complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
