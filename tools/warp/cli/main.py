"""The front door: finds the command, reports what goes wrong in one line, decides the exit code."""

import importlib
import os
import signal
import sys

from warp.base import ui
from warp.base.errors import LearnError, UsageError
from warp.base.names import advice
from warp.cli import table
from warp.cli.options import parse

INTERRUPTED = 130


def help_text():
    paint = ui.palette()
    width = max(len(command.name) for command in table.visible())
    lines = ["usage: ./learn COMMAND ...    (./learn COMMAND --help tells more)"]
    for group, names in table.GROUPS:
        lines += ["", group]
        for name in names:
            lines.append("  {}  {}".format(paint("bold", name.ljust(width)), table.find(name).summary))
    return "\n".join(lines)


def version():
    """Which course this is: its version, the commit and its day."""
    from warp.base import paths, steps

    with open(os.path.join(paths.ROOT, "VERSION"), encoding="utf-8") as file:
        number = file.read().strip()
    told = steps.ask(["git", "-C", paths.ROOT, "log", "-1", "--format=commit %h of %cs"])
    return f"Warp by Warp {number}, " + (told.strip() if told else "a copy without its history")


def dispatch(words):
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


def unknown_command(name):
    return "unknown command '{}'{}".format(
        name,
        advice(name, [command.name for command in table.visible()], "./learn --help lists the commands"),
    )


def leave(how, _):
    """Ended from outside: as an exception, so that what was started is ended too."""
    raise SystemExit(128 + how)


def main(words):
    for how in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(how) != signal.SIG_IGN:  # as nohup has it
            signal.signal(how, leave)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(errors="replace")
        except AttributeError:
            pass
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
