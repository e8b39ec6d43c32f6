"""Command lines: parsed from a table that also makes the help, the completion and the advice.

argparse would do most of it, but not in one line with the nearest name, and a value such as
`--size -5` must reach the check that says what a legal size is.
"""

from warp.base.errors import UsageError
from warp.base.names import advice, one_of


class Option:
    """`--name`, with a value when `value` names one. `repeat` collects a list. With `otherwise` the value may
    be missing: a next word that is an option or a CUDA source is none."""

    def __init__(self, name, help, value=None, choices=None, repeat=False, complete=None, otherwise=None):
        self.name = name
        self.help = help
        self.value = value
        self.choices = choices
        self.repeat = repeat
        self.complete = complete  # what completion offers for the value: rung, file
        self.otherwise = otherwise

    @property
    def key(self):
        return self.name.lstrip("-").replace("-", "_")

    @property
    def usage(self):
        value = f"[{self.value}]" if self.otherwise else self.value
        return self.name + (" " + value if value else "")

    def takes(self, word):
        """Whether the word after the option is its value."""
        return not (self.otherwise and (word.startswith("--") or word.endswith(".cu")))


class Command:
    """A command of ./learn; its code is `main(arguments)` of cli.commands.MODULE."""

    def __init__(
        self, name, summary, options=(), positional="", complete=None, module=None, rest="", hidden=False, raw=False
    ):
        self.name = name
        self.summary = summary
        self.options = list(options)
        self.positional = positional  # as the usage line shows it; "" takes none
        self.complete = complete  # what completion offers for positionals
        self.module = module or name
        self.rest = rest  # what `--` hands on, as the usage line shows it
        self.hidden = hidden
        self.raw = raw  # its words are its own affair, options too

    def usage(self):
        parts = ["./learn " + self.name]
        if self.positional:
            parts.append(self.positional)
        for option in self.options:
            parts.append("[{}]{}".format(option.usage, "..." if option.repeat else ""))
        if self.rest:
            parts.append(f"[-- {self.rest}]")
        return " ".join(parts)

    def help(self):
        lines = ["usage: " + self.usage(), "", self.summary[0].upper() + self.summary[1:] + "."]
        if self.options:
            lines.append("")
        width = max([len(option.usage) for option in self.options] or [0])
        for option in self.options:
            lines.append(f"  {option.usage:<{width}}  {option.help}")
        return "\n".join(lines)


class Arguments:
    """What the reader typed: positional words, options by key, the words after `--`."""

    def __init__(self):
        self.words = []
        self.rest = []
        self.help = False


def parse(command, words):
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
            option = by_name.get(name)
            if option is None:
                known = list(by_name) + ["--help"]
                near = advice(name, known, "it has " + one_of(known))
                of_chapter = "; a chapter's own options stand after --: -- " + name if command.rest else ""
                raise UsageError(f"'./learn {command.name}' has no option {name}{near}{of_chapter}")
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
