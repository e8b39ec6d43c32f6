"""Command lines: parsed from a table that also makes the help, the completion and the advice.

argparse would do most of it, but not in one line with the nearest name, and a value such as
`--size -5` must reach the check that says what a legal size is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warp.base.errors import UsageError
from warp.base.names import advice, one_of


@dataclass(eq=False)
class Option:
    """`--name`, with a value when `value` names one. `repeat` collects a list. With `otherwise` the value may
    be missing: a next word that is an option or a CUDA source is none."""

    name: str
    help: str
    value: str | None = None
    choices: tuple[str, ...] | None = None
    repeat: bool = False
    complete: str | None = None  # what completion offers for the value: rung, file
    otherwise: str | None = None

    @property
    def key(self) -> str:
        return self.name.lstrip("-").replace("-", "_")

    @property
    def usage(self) -> str:
        value = f"[{self.value}]" if self.otherwise else self.value
        return self.name + (" " + value if value else "")

    def takes(self, word: str) -> bool:
        """Whether the word after the option is its value."""
        return not (self.otherwise and (word.startswith("--") or word.endswith(".cu")))


class Command:
    """A command of ./learn; its code is `main(arguments)` of cli.commands.MODULE."""

    def __init__(
        self,
        name: str,
        summary: str,
        options: Sequence[Option] = (),
        positional: str = "",
        complete: str | None = None,
        module: str | None = None,
        rest: str = "",
        hidden: bool = False,
        raw: bool = False,
    ) -> None:
        self.name = name
        self.summary = summary
        self.options = list(options)
        self.positional = positional  # as the usage line shows it; "" takes none
        self.complete = complete  # what completion offers for positionals
        self.module = module or name
        self.rest = rest  # what `--` hands on, as the usage line shows it
        self.hidden = hidden
        self.raw = raw  # its words are its own affair, options too

    def usage(self) -> str:
        parts = ["./learn " + self.name]
        if self.positional:
            parts.append(self.positional)
        for option in self.options:
            parts.append("[{}]{}".format(option.usage, "..." if option.repeat else ""))
        if self.rest:
            parts.append(f"[-- {self.rest}]")
        return " ".join(parts)

    def help(self) -> str:
        lines = ["usage: " + self.usage(), "", self.summary[0].upper() + self.summary[1:] + "."]
        if self.options:
            lines.append("")
        width = max([len(option.usage) for option in self.options] or [0])
        for option in self.options:
            lines.append(f"  {option.usage:<{width}}  {option.help}")
        return "\n".join(lines)


class Arguments:
    """What the reader typed: positional words, options by key, the words after `--`."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.rest: list[str] = []
        self.help = False

    def __getattr__(self, option: str) -> Any:
        """Only asked for what parse() has not set: an option that the table does not have."""
        raise AttributeError(option)


def parse(command: Command, words: list[str]) -> Arguments:
    """The arguments of a command line, or UsageError with one line."""
    arguments = Arguments()
    for option in command.options:
        setattr(arguments, option.key, [] if option.repeat else (None if option.value else False))
    by_name = {option.name: option for option in command.options}

    words = list(words)
    if command.raw:
        arguments.words = words
        arguments.help = words[:1] in (["-h"], ["--help"])
        return arguments
    while words:
        word = words.pop(0)
        if word == "--":
            if not command.rest and words:
                raise UsageError(f"'./learn {command.name}' hands nothing on after --")
            arguments.rest = words
            break
        if word in ("-h", "--help"):
            arguments.help = True
            continue
        if word.startswith("-") and word != "-":
            name, equals, attached = word.partition("=")
            if name not in by_name:
                known = list(by_name) + ["--help"]
                near = advice(name, known, "it has " + one_of(known))
                of_chapter = "; a chapter's own options stand after --: -- " + name if command.rest else ""
                raise UsageError(f"'./learn {command.name}' has no option {name}{near}{of_chapter}")
            option = by_name[name]
            if option.value is None:
                if equals:
                    raise UsageError(f"{name} takes no value")
                setattr(arguments, option.key, True)
                continue
            if equals:
                value = attached
            elif words and option.takes(words[0]):
                value = words.pop(0)
            elif option.otherwise:
                value = option.otherwise
            else:
                raise UsageError(f"{name} needs a value: {option.usage}")
            if value == "":
                raise UsageError(f"{name} needs a value: {option.usage}")
            if option.choices and value not in option.choices:
                raise UsageError(
                    f"unknown {option.key} '{value}'{advice(value, option.choices)}; legal is {one_of(option.choices)}"
                )
            if option.repeat:
                getattr(arguments, option.key).append(value)
            elif getattr(arguments, option.key) is not None:
                raise UsageError(f"{name} is given twice")
            else:
                setattr(arguments, option.key, value)
            continue
        if not command.positional:
            raise UsageError(f"'./learn {command.name}' takes no argument '{word}'")
        arguments.words.append(word)
    return arguments
