"""`./learn author prove`: the proofs of exercises, on the simulator or on this machine's GPU."""

from __future__ import annotations

import argparse

from warp.base.errors import UsageError
from warp.exercise import checking, on_gpu, proofs
from warp.exercise import exercises as course


def chosen_of(words: list[str]) -> list[course.Exercise]:
    """The exercises that the words name, by name, chapter or number of the chapter; all of them if there is no word."""
    known = course.all_exercises(proofs.ROOT)
    for word in words:
        if not any(word in (e.name, e.chapter, e.number) for e in known):
            raise UsageError(f"there is no exercise {word}; ./learn list names them")
    return [e for e in known if not words or {e.name, e.chapter, e.number} & set(words)]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./learn author prove", description="Proves exercises: blank, solution, mutants."
    )
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE", help="name, chapter or number of a chapter")
    parser.add_argument("--backend", choices=("simulator", "gpu"), default="simulator")
    arguments = parser.parse_args(words)
    chosen = chosen_of(arguments.exercises)
    if arguments.backend == "gpu":
        return on_gpu.main(chosen)
    checking.prepare("simulator")
    wrong = 0
    for proof in proofs.prove_all(chosen):
        print(f"{proof.exercise.key} ({proof.seconds:.1f} s)")
        print(f"  blank: {proofs.reasons(proof.blank)}\n  solution: {proofs.reasons(proof.solution)}")
        for mutant, variant in proof.mutants:
            print(f"  {mutant.name}: {proofs.reasons(variant)}")
        for mutation, variant in proof.automatic:
            print(f"  [{mutation.kind}] {mutation.change}: {proofs.reasons(variant)}")
        for complaint in proof.complaints:
            print(f"  WRONG: {complaint}")
        if not proof.complaints:
            failed = f"{len(proof.mutants)} wrong solutions and {len(proof.automatic)} mistakes of a machine"
            print(
                f"  ready: the solution passes; the blank, {failed} do not, but for those that are listed as changing nothing"
            )
        wrong += bool(proof.complaints)
    return 1 if wrong else 0
