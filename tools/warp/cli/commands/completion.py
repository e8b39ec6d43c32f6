"""./learn completion: the script for bash or zsh, and the answers that the script asks for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from warp.base import paths, ui
from warp.base.errors import UsageError
from warp.base.names import advice
from warp.chapter import chapters
from warp.cli import table
from warp.cli.options import Arguments, Option

BASH = """\
# Completion of ./learn for bash. To use it: eval "$(./learn completion bash)"
_warp_by_warp_learn() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(%(learn)s __complete "$COMP_CWORD" -- "${COMP_WORDS[@]}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace
  fi
}
complete -F _warp_by_warp_learn learn ./learn
"""

ZSH = """\
# Completion of ./learn for zsh. To use it: eval "$(./learn completion zsh)"
if ! whence compdef >/dev/null; then
  autoload -Uz compinit && compinit -i
fi
_warp_by_warp_learn() {
  local -a found
  found=("${(@f)$(%(learn)s __complete $((CURRENT - 1)) -- "${words[@]}" 2>/dev/null)}")
  found=(${found:#})
  if (( ${#found} == 1 )) && [[ ${found[1]} == */ ]]; then
    compadd -S '' -- "${found[@]}"
  elif (( ${#found} )); then
    compadd -- "${found[@]}"
  fi
}
compdef _warp_by_warp_learn learn ./learn
"""

SHELLS = {"bash": BASH, "zsh": ZSH}


def main(arguments: Arguments) -> int:
    if arguments.rest or (arguments.words and arguments.words[0].isdigit()):
        for word in candidates(int(arguments.words[0]), arguments.rest):
            ui.say(word)
        return 0
    if len(arguments.words) != 1:
        raise UsageError("completion takes one shell: bash or zsh")
    shell = arguments.words[0]
    if shell not in SHELLS:
        raise UsageError("no completion for '{}'{}".format(shell, advice(shell, SHELLS, "there is bash and zsh")))
    ui.say((SHELLS[shell] % {"learn": shlex.quote(os.path.join(paths.ROOT, "learn"))}).rstrip("\n"))
    return 0


def candidates(index: int, words: list[str]) -> list[str]:
    """What can stand at words[index]; words[0] is the command `learn` itself."""
    typed = words[index] if index < len(words) else ""
    before = words[1:index]
    if not before:
        return matching(typed, [command.name for command in table.visible()] + ["--help"])
    command = table.find(before[0])
    if before[0] == "help":
        return matching(typed, [known.name for known in table.visible()])
    if command is None or "--" in before:
        return []
    options = {option.name: option for option in command.options}
    last = options.get(before[-1])
    if last is not None and last.value and len(before) > 1:
        return matching(typed, values(last, before)) if last.complete != "file" else files(typed, "")
    if typed.startswith("-"):
        used = set(before)
        free = [name for name, option in options.items() if option.repeat or name not in used]
        return matching(typed, free + ["--help"])
    if command.complete == "shell":
        return matching(typed, SHELLS)
    if command.complete == "action":
        from warp.cli.commands import author

        return matching(typed, author.ACTIONS) if len(before) == 1 else files(typed, "")
    if command.complete == "exercise":
        from warp.exercise import catalogue

        return matching(typed, [exercise.name for exercise in catalogue.everything()])
    if command.complete in ("chapter", "chapter-or-cu"):
        found = matching(typed, chapter_names())
        if command.complete == "chapter-or-cu":
            found += [name for name in files(typed, ".cu") if name not in found]
        return found
    return []


def matching(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(typed)]


def chapter_names() -> list[str]:
    known = chapters.all_chapters()
    return [c.number for c in known] + [c.key for c in known]


def values(option: Option, before: list[str]) -> Sequence[str]:
    """Values of an option: its choices, the GPUs of the table, or the rungs of the chapters already typed (else of all)."""
    if option.choices:
        return option.choices
    if option.complete == "gpu":
        from warp.machinecode import bounds

        return [name.replace(" ", "_") for name in bounds.gpus()]
    if option.complete != "rung":
        return []
    known = chapters.all_chapters()
    named = []
    for word in before[1:]:
        try:
            named.append(chapters.find(word, known))
        except UsageError:
            continue
    return [rung for chapter in named or known for rung in chapter.rungs]


def files(typed: str, suffix: str) -> list[str]:
    """Files below the folder being typed that end in `suffix`, and folders with a slash."""
    folder, name = os.path.split(typed)
    try:
        entries = sorted(os.listdir(os.path.expanduser(folder) or "."))
    except OSError:
        return []
    found = []
    for entry in entries:
        if not entry.startswith(name) or (entry.startswith(".") and not name.startswith(".")):
            continue
        path = os.path.join(folder, entry)
        if os.path.isdir(os.path.expanduser(path)):
            found.append(path + "/")
        elif entry.endswith(suffix):
            found.append(path)
    return found
