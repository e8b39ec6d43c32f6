"""The three proofs of an exercise: its blank fails, its solution passes, each mutant fails for its own reason; and
each mutation made by a machine fails, or is listed as equivalent. prove.py is the command.

All variants of one exercise are compiled into one program, each in a namespace of its own, and run one by one. Nearly all
of the time goes into compiling. With `--backend gpu` the same files run on this machine's GPU; on_gpu.py says what must
hold there.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import re
import sys
import time
from pathlib import Path

from warp.base import paths
from warp.exercise import checking, compiling, interface, mutations
from warp.exercise import exercises as course
from warp.exercise.mutations import Mutation

ROOT = Path(paths.ROOT)
FEWEST_MUTATIONS = 8


@dataclasses.dataclass
class Variant:
    name: str
    text: str
    outcome: checking.Outcome = dataclasses.field(default_factory=checking.Outcome)  # once it has run
    compiles: bool = True


@dataclasses.dataclass
class Proof:
    """What came of all variants of an exercise; `complaints` is empty if it is sound."""

    exercise: course.Exercise
    blank: Variant
    solution: Variant
    mutants: list[tuple[course.Mutant, Variant]]
    automatic: list[tuple[Mutation, Variant]]
    seconds: float = 0
    complaints: list[str] = dataclasses.field(default_factory=list)


def prove(exercise: course.Exercise) -> Proof:
    began = time.monotonic()
    proof = Proof(
        exercise,
        Variant("blank", exercise.blank),
        Variant("solution", exercise.solution),
        [(mutant, Variant(f"mutant_{i}", course.apply(exercise, mutant))) for i, mutant in enumerate(exercise.mutants)],
        [
            (mutation, Variant(f"automatic_{i}", mutation.text))
            for i, mutation in enumerate(mutations.of_solution(exercise.solution, exercise.header, exercise.kind))
        ],
    )
    variants = [proof.blank, proof.solution] + [variant for _, variant in proof.mutants + proof.automatic]
    folder = Path(paths.BUILD) / "exercises" / "proofs" / exercise.chapter / exercise.name
    program = compile_all(exercise, variants, folder)
    for variant in variants:
        if variant.compiles:
            variant.outcome = run(program, variant)
    # The way that a learner's file takes: compiled apart from the checker, and linked with it.
    apart = checking.check(exercise, str(folder / "solution.cu"))
    if not apart.passed:
        proof.complaints.append(f"the solution fails in a check: {reasons(Variant('', '', apart))}")
    judge(proof)
    proof.seconds = time.monotonic() - began
    return proof


def compile_all(exercise: course.Exercise, variants: list[Variant], folder: Path, backend: str = "simulator") -> Path:
    """One program of all variants; those that do not compile are left out, and marked."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nothing.h").write_text("", encoding="utf-8")
    for variant in variants:
        (folder / (variant.name + ".cu")).write_text(variant.text, encoding="utf-8")
    program, source = folder / "all", folder / "all.cu"
    # The checker takes most of the time: it is compiled once where that can be, else with each variant.
    build = with_one_checker if backend == "simulator" else with_a_checker_each
    for _ in range(len(variants) + 1):
        source.write_text(
            "\n".join(build(exercise, [v for v in variants if v.compiles], folder)) + "\n", encoding="utf-8"
        )
        options = ("-g1", "-fno-var-tracking", "--many-constants") if backend == "simulator" else ()  # for no debugger
        errors = compiling.together(str(source), str(program), backend, options)
        if not errors:
            return program
        wrong = {Path(match["file"]).stem for match in map(compiling.ERROR.match, errors.splitlines()) if match}
        if build is with_a_checker_each:
            wrong |= set(re.findall(r"in namespace ['‘](\w+)['’]", errors))
        if not wrong & {v.name for v in variants}:
            wrong |= set(re.findall(r"^\S*/(\w+)\.cu:\d+", errors, re.M))
        known = [variant for variant in variants if variant.compiles and variant.name in wrong]
        if not known and build is with_a_checker_each:
            raise course.ExerciseError(f"{exercise.key}: the checker does not compile\n{errors}")
        if build is with_one_checker and (not known or any(variant.name == "solution" for variant in known)):
            build = with_a_checker_each
            continue
        for variant in known:
            variant.compiles = False
            print(f"  {exercise.key}: {variant.name} does not compile", file=sys.stderr)
    return program


def headers(exercise: course.Exercise, variants: list[Variant]) -> list[str]:
    """What they include, ahead of all namespaces."""
    texts = [exercise.checker.read_text(encoding="utf-8")] + [variant.text for variant in variants]
    return list(dict.fromkeys(re.findall(r"^#include [<\"].+$", "\n".join(texts), re.M)))


def with_a_checker_each(exercise: course.Exercise, variants: list[Variant], folder: Path) -> list[str]:
    """The lines of a program with the checker once for every variant."""
    lines = headers(exercise, variants)
    for variant in variants:
        lines += [
            f"namespace {variant.name} {{",
            f'#define EXERCISE "{folder / variant.name}.cu"',
            f'#include "{exercise.checker}"',
            "#undef EXERCISE",
            "}",
            f'static const grader::Variant {variant.name}_("{variant.name}", {variant.name}::grade);',
        ]
    return lines


def with_one_checker(exercise: course.Exercise, variants: list[Variant], folder: Path) -> list[str]:
    """The lines of a program with one checker, which calls the functions of a variant through pointers of their names.
    It does not compile if the checker needs more of the file than its functions, a constant or a template, say."""
    lines = headers(exercise, variants)
    answers = answers_of(variants) if exercise.kind == "predict" else None
    if answers is not None:  # nothing else differs
        text = variants[0].text
        for name in answers:
            text = re.sub(rf"^constexpr (\w+ {name}\b)", r"static \1", text, flags=re.M)
        (folder / "answered.cu").write_text(text, encoding="utf-8")
        lines += ["namespace checked {", f'#include "{folder / "answered.cu"}"']
        chosen = [" ".join(f"{name} = {values[i]};" for name, values in answers.items()) for i in range(len(variants))]
    else:
        for variant in variants:
            lines += [f"namespace {variant.name} {{", f'#include "{folder / variant.name}.cu"', "}"]
        names = interface.functions(exercise.solution)
        lines.append("namespace checked {")
        lines += [f"static decltype(&{variants[0].name}::{name}) {name} = nullptr;" for name in names]
        chosen = [" ".join(f"{name} = &{variant.name}::{name};" for name in names) for variant in variants]
    lines += [f'#define EXERCISE "{folder / "nothing.h"}"', f'#include "{exercise.checker}"']
    for variant, choice in zip(variants, chosen):
        lines.append(f"static void grade_{variant.name}(grader::Exercise& exercise) {{ {choice} grade(exercise); }}")
        lines.append(f'static const grader::Variant {variant.name}_("{variant.name}", grade_{variant.name});')
    return lines + ["}"]


CONSTANT = re.compile(r"^constexpr \w+ (\w+) = ([^;]*);", re.M)


def answers_of(variants: list[Variant]) -> dict[str, list[str]] | None:
    """{constant: its value in each variant} where the variants differ in constants alone; else None."""
    texts = [re.sub(r"[ \t]*//.*", "", variant.text) for variant in variants]
    if len({CONSTANT.sub(r"\1", text) for text in texts}) > 1:
        return None
    values = [dict(CONSTANT.findall(text)) for text in texts]
    return {name: [value[name] for value in values] for name in values[0] if len({value[name] for value in values}) > 1}


def run(program: Path, variant: Variant, backend: str = "simulator") -> checking.Outcome:
    outcome = checking.Outcome(backend)
    checking.run_check(compiling.Programs(str(program), str(program)), outcome, [variant.name])
    return outcome


def judge(proof: Proof) -> None:
    exercise, complain = proof.exercise, proof.complaints.append
    solved, blank = proof.solution.text, proof.blank.text
    for place in course.to_fill_in(exercise):
        complain(place)
    if exercise.kind == "predict" and asked(solved) != asked(blank):
        complain("the blank does not ask what the solution answers: they may differ in numbers and TODO alone")
    if solved == blank:
        complain("the solution is the blank")
    if "TODO" in solved[len(exercise.header) :]:
        complain("the solution still has a TODO")
    if not proof.blank.compiles:
        complain("the blank does not compile")
    elif proof.blank.outcome.passed:
        complain("the blank passes")
    if not proof.solution.compiles or not proof.solution.outcome.passed:
        complain(f"the solution fails: {reasons(proof.solution)}")
    for mutant, variant in proof.mutants:
        found = variant.outcome.reasons() if variant.compiles else [("compile", "")]
        wanted = [reason for reason in found if reason[0] == mutant.reason and mutant.case in ("", reason[1])]
        if not wanted:
            where = f" at {mutant.case}" if mutant.case else ""
            complain(f"mutant '{mutant.name}' must fail for {mutant.reason}{where}, not: {reasons(variant)}")
    listed = {plain(course.apply(exercise, one)): one for one in exercise.equivalents}
    for mutation, variant in proof.automatic:
        survived = variant.compiles and variant.outcome.passed
        known = listed.pop(plain(mutation.text), None)
        if survived and not known:
            entry = course.as_entry(exercise, f"WHY IT CHANGES NOTHING: {course.EQUIVALENT}", mutation.text)
            complain(f"nobody notices ({mutation.kind}):\n{entry}")
        elif not survived and known and known.reason == course.EQUIVALENT:
            complain(f"listed as equivalent, but it fails ({reasons(variant)}): {mutation.change}")
    for one in listed.values():
        complain(f"listed as {one.reason}, but there is no such mutation: {one.name}")
    judged = [variant for _, variant in proof.automatic if variant.compiles]
    if len(judged) < FEWEST_MUTATIONS:
        complain(f"only {len(judged)} automatic mutations compile; at least {FEWEST_MUTATIONS} are wanted")


def asked(text: str) -> str:
    """A prediction without its answers, and without the TODO that stands for them."""
    return re.sub(r"^(constexpr \w+ \w+ =)[^;]*;[ ]*(?://)? *(?:TODO:?)? *", r"\1 ", text, flags=re.M)


def plain(text: str) -> str:
    """Without the blanks that a change leaves at the end of a line."""
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def reasons(variant: Variant) -> str:
    if not variant.compiles:
        return "does not compile"
    found = [kind + (" at " + case if case else "") for kind, case in variant.outcome.reasons()]
    return ", ".join(found) or "passes"


def prove_all(exercises: list[course.Exercise]) -> list[Proof]:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(prove, exercises))
