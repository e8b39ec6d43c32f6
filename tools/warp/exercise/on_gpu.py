"""The exercises on a GPU: what the simulator says of solutions and mistakes has to be so on the hardware.

A GPU counts nothing and watches nothing, so less can be asked of it than of the simulator:

- every solution passes, its bars in time included;
- a mutant with a wrong result gives a wrong result, and one that is only slow gives the right one: both are claims of
  the simulator about the hardware, and the hardware can contradict them;
- a race, a read outside of an array and memory that nobody wrote may end either way; how they end is printed.

Predictions are about counts; they are left out.
"""

from __future__ import annotations

import concurrent.futures
import time
from pathlib import Path

from warp.base import paths
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.exercise import checking, proofs
from warp.exercise import exercises as course
from warp.exercise.proofs import Variant

Pairs = list[tuple[course.Mutant, Variant]]
Job = tuple[course.Exercise, Path, Variant, Variant, Pairs]  # exercise, program, blank, solution, mutants

# What each reason of a mutant, as the simulator gives it, must become on a GPU.
FAILS = {
    "wrong-result": {"wrong-result", "out-of-bounds"},  # the space around an array is looked at first
    "wrong-output": {"wrong-output"},
    "misaligned-access": {"cuda-error"},
    "api-error": {"cuda-error", "wrong-result"},
    # checked by the host, on both backends
    "choice": {"choice"},
    "layout": {"layout"},
    "order": {"order"},
    "overflow": {"overflow"},
    "rows and columns": {"rows and columns"},
    "step left out": {"step left out"},
    "uneven": {"uneven"},
}
EITHER = {
    "absent-block",
    "barrier-divergence",
    "device-access",
    "global-race",
    "hang",
    "host-access",
    "missing-proxy-fence",
    "not-freed",
    "out-of-bounds",
    "peer-access",
    "shared-race",
    "stream-race",
    "uninitialized-global",
    "uninitialized-shared",
}  # fmt: skip
PASSES = {
    "atomic additions",
    "bank conflicts",
    "blocks",
    "divergent branches",
    "global atomic requests",
    "global load requests",
    "global store requests",
    "sectors per load request",
    "sectors per store request",
    "shared load requests",
    "shared store requests",
    "threads per block",
    "wavefronts per shared load request",
    "wavefronts per shared store request",
}  # fmt: skip

AT_ONCE = 8  # programs on the GPU


def alone(exercise: course.Exercise) -> bool:
    """It measures what other programs on the GPU would change."""
    checker = exercise.checker.read_text(encoding="utf-8")
    return "at_most_times" in checker or "cudaMemGetInfo" in checker


def must(reason: str) -> str:
    """What a mutant with this reason must do on a GPU, in a word."""
    known = [name for name, reasons in (("fails", FAILS), ("passes", PASSES), ("either", EITHER)) if reason in reasons]
    if len(known) != 1:
        raise course.ExerciseError(f"on_gpu.py does not know what the reason '{reason}' becomes on a GPU")
    return known[0]


def judge(solution: Variant, mutants: Pairs) -> list[str]:
    """What is wrong, a line each. `mutants`: (mutant, variant) with the outcomes of a GPU."""
    complaints = []
    if not solution.compiles or not solution.outcome.passed:
        complaints.append(f"the solution fails: {proofs.reasons(solution)}")
    for mutant, variant in mutants:
        said = proofs.reasons(variant)
        if not variant.compiles:
            complaints.append(f"mutant '{mutant.name}' does not compile")
        elif must(mutant.reason) == "passes" and not variant.outcome.passed:
            complaints.append(f"mutant '{mutant.name}' is only slow ({mutant.reason}), but: {said}")
        elif must(mutant.reason) == "fails":
            found = {kind for kind, _ in variant.outcome.reasons()}
            if not found & FAILS[mutant.reason]:
                complaints.append(f"mutant '{mutant.name}' must fail as {mutant.reason}, not: {said}")
    return complaints


def compiled(exercise: course.Exercise) -> tuple[Job, float]:
    """(exercise, program, blank, solution, mutants), and the seconds that it took."""
    began = time.monotonic()
    blank = proofs.Variant("blank", exercise.blank)
    solution = proofs.Variant("solution", exercise.solution)
    mutants = [
        (mutant, proofs.Variant(f"mutant_{i}", course.apply(exercise, mutant)))
        for i, mutant in enumerate(exercise.mutants)
    ]
    folder = Path(paths.BUILD) / "exercises" / "gpu" / exercise.chapter / exercise.name
    variants = [blank, solution] + [variant for _, variant in mutants]
    program = proofs.compile_all(exercise, variants, folder, "gpu")
    return (exercise, program, blank, solution, mutants), time.monotonic() - began


def run(job: Job) -> Job:
    exercise, program, blank, solution, mutants = job
    for variant in [blank, solution] + [variant for _, variant in mutants]:
        if variant.compiles:
            variant.outcome = proofs.run(program, variant, "gpu")
    return job


def tell(job: Job) -> int:
    """Prints what came of an exercise; how many complaints there are."""
    exercise, _, blank, solution, mutants = job
    print(f"{exercise.key}\n  blank: {proofs.reasons(blank)}\n  solution: {proofs.reasons(solution)}")
    for bar in solution.outcome.bars:
        print(f"    {bar.name}: {bar.value:.3f}, {bar.relation} {bar.bar:g}")
    for mutant, variant in mutants:
        print(f"  {mutant.name} ({mutant.reason}: {must(mutant.reason)}): {proofs.reasons(variant)}")
    complaints = judge(solution, mutants)
    for complaint in complaints:
        print(f"  WRONG: {complaint}", flush=True)
    return len(complaints)


def main(exercises: list[course.Exercise]) -> int:
    began = time.monotonic()
    machine = Machine()
    if not machine.gpus():
        raise LearnError("there is no NVIDIA GPU here; without --backend gpu the proofs run on the simulator")
    checking.prepare("gpu")
    exercises = [exercise for exercise in exercises if exercise.kind != "predict"]
    for exercise in exercises:
        for mutant in exercise.mutants:
            must(mutant.reason)
    prepared = time.monotonic()
    jobs, spent = [], 0.0
    with concurrent.futures.ThreadPoolExecutor(machine.cores()) as pool:
        for job, seconds in pool.map(compiled, exercises):
            jobs.append(job)
            spent += seconds
    ready = time.monotonic()
    print(f"{len(jobs)} programs compiled in {ready - prepared:.0f} s ({spent:.0f} s of work)", flush=True)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for job in pool.map(run, [job for job in jobs if not alone(job[0])]):
            wrong += tell(job)
    for job in jobs:
        if alone(job[0]):
            wrong += tell(run(job))
    ends = time.monotonic()
    print(
        f"{len(jobs)} exercises, {sum(2 + len(job[-1]) for job in jobs)} programs, {wrong} wrong; prepared in "
        f"{prepared - began:.0f} s, compiled in {ready - prepared:.0f} s, run in {ends - ready:.0f} s"
    )
    return 1 if wrong or not jobs else 0
