"""Makes the two programs of a check, and says what the compiler has against the learner's file.

The checker is compiled with the declarations of the course's own copy of the exercise, once for all tries, and becomes the
program that judges. The learner's file is compiled apart, with CUDA's headers and no other of the course's. Linked with the
checker it becomes the program that performs. In a prediction there is nothing to compile but the learner's numbers.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warp.base import paths, steps
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.exercise import interface
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Outcome

INCLUDES = [os.path.join(paths.ROOT, "common", part, "include") for part in ("grader", "lab")]
LIBRARIES = ("common/grader/libgrader.a", "common/lab/liblab.a")


@dataclass
class Programs:
    """What a check runs: `judge EVENTS performer`."""

    judge: str
    performer: str


def make(exercise: Exercise, source: str, folder: str, backend: str, outcome: Outcome) -> Programs | None:
    """The programs for the learner's file `source`; None, and a failure in `outcome`, where it does not compile."""
    if exercise.kind == "predict":
        return of_answers(exercise, source, folder, backend, outcome)
    objects = {name: os.path.join(folder, name + ".o") for name in ("checker", "blank", "mine")}
    programs = Programs(os.path.join(folder, "judge"), os.path.join(folder, "check"))
    compile_ = compiler(backend) + (["-D", "main=" + interface.PROGRAM] if is_program(exercise) else [])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        judge = pool.submit(make_judge, exercise, objects, programs.judge, backend, compile_)
        mine = pool.submit(run, compile_ + ["-c", str(source), "-o", objects["mine"]], objects["mine"])
        judge.result()
        errors = mine.result() or link(objects["checker"], objects["mine"], programs.performer, backend)
    if not errors:
        return programs
    explain(errors, source, outcome)
    return None


def is_program(exercise: Exercise) -> bool:
    return "#define main " + interface.PROGRAM in exercise.checker.read_text(encoding="utf-8")


def make_judge(exercise: Exercise, objects: dict[str, str], judge: str, backend: str, compile_: list[str]) -> None:
    """Compiles the checker and links it with the course's own copy of the exercise, whose functions it does not call; unless that
    has been done."""
    checker, blank = objects["checker"], objects["blank"]
    header, key, source = checker + ".h", checker + ".key", os.path.splitext(blank)[0] + ".cu"
    wanted = digest(exercise, backend)
    if os.path.exists(judge) and os.path.exists(checker) and os.path.exists(key):
        if Path(key).read_text(encoding="utf-8") == wanted:
            return
    Path(header).write_text(interface.declarations(exercise.blank), encoding="utf-8")
    Path(source).write_text(exercise.blank, encoding="utf-8")
    errors = (
        run(checked(backend, header) + ["-c", str(exercise.checker), "-o", checker], checker)
        or run(compile_ + ["-c", source, "-o", blank], blank)
        or link(checker, blank, judge, backend)
    )
    if errors:
        raise LearnError(f"the check of {exercise.key} does not compile: {steps.tail(errors, 5).strip()}")
    Path(key).write_text(wanted, encoding="utf-8")


def link(checker: str, learners: str, program: str, backend: str) -> str:
    """The learner's file stands behind the libraries, so that nothing in it takes the place of what is theirs."""
    return run(compiler(backend) + [checker, *libraries(backend), learners, "-o", program], program)


def digest(exercise: Exercise, backend: str) -> str:
    """Changes with whatever a checker is made of."""
    sums = hashlib.sha256(exercise.checker.read_bytes() + exercise.blank.encode())
    headers = [file for folder in INCLUDES for file in Path(folder).rglob("*") if file.is_file()]
    for file in [*map(str, sorted(headers)), *libraries(backend), compiler(backend)[0]]:
        if os.path.exists(file):
            status = os.stat(file)
            sums.update(f"{file} {status.st_mtime_ns} {status.st_size}\n".encode())
    return sums.hexdigest()


ANSWER = re.compile(r"^(constexpr \w+ (\w+) = )-1;", re.M)
NUMBER = r"[-+*/%()\s\d.']+"


def of_answers(exercise: Exercise, source: str, folder: str, backend: str, outcome: Outcome) -> Programs | None:
    """The program of a prediction: the course's own kernels, with the learner's numbers."""
    blank = exercise.blank
    with open(source, encoding="utf-8", errors="replace") as file:
        mine = file.read()
    names = [name for _, name in ANSWER.findall(blank)]
    known = "|".join(re.findall(r"^constexpr \w+ (\w+)", blank, re.M))
    answers = {}
    for name in names:
        found = re.search(rf"^[ \t]*constexpr\s+\w+\s+{name}\s*=([^;\n]*)(;?)", mine, re.M)
        if not found:
            outcome.fail("interface", f"the check uses {name}, which your file no longer has: keep its name", name=name)
            return None
        line = mine.count("\n", 0, found.start(1)) + 1
        if not found[2]:
            outcome.fail("compile", "a ; is missing at the end of this line", file=str(source), line=line, more=0)
            return None
        if not found[1].strip() or not re.fullmatch(rf"(?:{NUMBER}|\b(?:{known})\b)+", found[1]):
            message = f"{name} must be a number, such as 8 or 2 * 4, and not: {found[1].strip()}"
            outcome.fail("compile", message, file=str(source), line=line, more=0)
            return None
        answers[name] = found[1].strip()
    answered, program = os.path.join(folder, "answered.cu"), os.path.join(folder, "judge")
    text = ANSWER.sub(lambda match: f"{match[1]}{answers[match[2]]};", blank)
    Path(answered).write_text(text, encoding="utf-8")
    errors = run(checked(backend, answered) + [str(exercise.checker), *libraries(backend), "-o", program], program)
    if not errors:
        return Programs(program, program)
    explain(errors, answered, outcome)
    return None


def compiler(backend: str) -> list[str]:
    if backend == "simulator":
        folder = paths.build_folder(backend)
        command = [os.path.join(folder, "bin", "simtcc"), "-Wall", "-Wextra", "-Werror=return-type"]
    else:
        command = [Machine().nvcc() or "nvcc", "-arch=native", "-O3", "-lineinfo"]
    return command + ["-std=c++20"]


def checked(backend: str, file: str) -> list[str]:
    """Compiles a checker, which includes `file`."""
    text = os.path.abspath(file).replace("\\", "\\\\").replace('"', '\\"')
    return compiler(backend) + ["-I" + include for include in INCLUDES] + [f'-DEXERCISE="{text}"']


def libraries(backend: str) -> list[str]:
    folder = paths.build_folder(backend)
    names = LIBRARIES + (("common/simt/libsimt.a",) if backend == "simulator" else ())
    return [os.path.join(folder, name) for name in names]


def together(source: str, program: str, backend: str, options: Sequence[Any] = ()) -> str:
    """Compiles a program that names all of its files itself: what the proofs of an exercise are. "", or the errors."""
    command = compiler(backend) + [*options, *["-I" + include for include in INCLUDES]]
    return run(command + [str(source), *libraries(backend), "-o", str(program)], str(program))


def run(command: list[str], made: str) -> str:
    """ "", or what the compiler had to say. Its warnings are not the learner's concern while it compiles."""
    if os.path.exists(made):
        os.unlink(made)  # an interrupted compilation must not leave the last one in its place
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise LearnError(f"cannot run {paths.shown(command[0])}: {error.strerror}")
    return "" if done.returncode == 0 else done.stderr + done.stdout or "the compiler ended without a word"


ERROR = re.compile(
    r"(?P<file>[^:\n]+)(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<nvcc>\d+)\)): (?:fatal )?error: (?P<message>.+)"
)


def explain(text: str, source: str, outcome: Outcome) -> None:
    """One sentence for the first error at the learner's own line."""
    found = [match for match in map(ERROR.match, text.splitlines()) if match]
    own = [match for match in found if os.path.realpath(match["file"]) == os.path.realpath(source)]
    if own:
        line, message = int(own[0]["line"] or own[0]["nvcc"]), own[0]["message"].strip()
        message = re.sub(r" \[-f\w+\]$", "", message)
        semicolon = re.match(r"expected .*[‘'\"];[’'\"](?! at end)", message)
        if semicolon:
            before = ends_before(source, line, int(own[0]["column"] or 0))
            line, message = before or line, "a ; is missing at the end of this line" if before else message
        outcome.fail("compile", message, file=str(source), line=line, more=len(own) - 1)
        return
    taken = re.search(r"multiple definition of [`'‘](\w+)", text)
    if taken:
        message = f"your file defines {taken[1]}, which is the check's: leave it out, or give yours another name"
        outcome.fail("interface", message, name=taken[1])
        return
    missing = re.search(r"undefined reference to [`'‘]([\w:]+)", text)
    if missing:
        name = "main" if missing[1] == interface.PROGRAM else missing[1]
        message = f"the check uses {name}, which your file does not have as it was: keep its name and its parameters"
        outcome.fail("interface", message, name=name)
        return
    first = found[0]["message"] if found else steps.tail(text, 5).strip() or "the compiler ended without a word"
    outcome.fail("interface", "the check does not compile with your file (keep the names and parameters): " + first)


def ends_before(source: str, line: int, column: int) -> int:
    """The line that a missing ; belongs to: that line, or the one before if the compiler stumbled over the line's first
    word (`column` 0: it does not say); 0 where neither is so."""
    with open(source, encoding="utf-8", errors="replace") as file:
        lines = [re.sub(r"//.*", "", text).rstrip() for text in file]
    if line > len(lines):
        return 0
    text = lines[line - 1]
    if column > len(text):
        return line  # g++ points behind the last word
    if column and text[: column - 1].strip():
        return 0
    before = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), 0)
    return before if before and lines[before - 1][-1] not in ";{}" else 0
