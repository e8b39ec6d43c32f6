"""The simulator's run of a chapter's program, made once for each program. Standard library only."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from warp.base.files import write_atomically
from warp.chapter import freshness, results
from warp.chapter.written import Row

ROOT = Path(__file__).resolve().parents[3]


def build_folder() -> Path:
    """The simulator's build, below WARP_BUILD_DIR or build/."""
    return Path(os.environ.get("WARP_BUILD_DIR") or ROOT / "build") / "simulator"


def program_of(source: Path, build: Path) -> Path:
    """Where the build puts the program of chapters/NN_name/name.cu."""
    return build / "chapters" / source.resolve().parent.name / source.stem


def is_stale(source: Path, build: Path) -> bool:
    """True where a source of the chapter is newer than its program."""
    program = program_of(source, build)
    newest = max(path.stat().st_mtime for path in source.resolve().parent.glob("*.cu*"))
    return not program.exists() or program.stat().st_mtime < newest


@dataclass
class SimulatedRun:
    """Of a run at the default size: its rows, and of each launch the kernel and its counts."""

    rows: list[Row]
    launches: list[tuple[str, dict[str, int]]]


def simulated_run(source: Path, build: Path) -> SimulatedRun:
    """The run of a chapter's program.

    It is kept beside the build under the program's digest, so that only a program that changed runs again.
    """
    program = program_of(source, build)
    if not program.exists():
        raise results.ResultsError(
            f"{program} is not built: ./learn run {source.resolve().parent.name[:2]} --backend simulator"
        )
    status = program.stat()
    return _rows_and_launches(source, program, status.st_mtime_ns, status.st_size)


@functools.cache
def _rows_and_launches(source: Path, program: Path, _changed: int, _bytes: int) -> SimulatedRun:
    run = simulated_results(source, program)
    launches = run.trace.get("launches", [])
    return SimulatedRun(run.rows, [(results.kernel_base(one["kernel"]), one["counts"]) for one in launches])


def simulated_results(source: Path, program: Path) -> results.Results:
    """The run that is kept, with all that it printed and traced; its files lie in `work`."""
    work = work_of(program)
    stamp = _made(source, program)
    run = results.parse((work / "results.json").read_text(encoding="utf-8"), str(work / "results.json"))
    run.output, run.program, run.work = stamp["output"], program, work
    if (work / "trace.json").exists():
        run.trace = json.loads((work / "trace.json").read_text(encoding="utf-8"))
        run.lines = results.lines_by_kernel(run.trace)
    return run


def work_of(program: Path) -> Path:
    return program.parents[2] / "course" / program.parent.name


def _made(source: Path, program: Path) -> dict:
    """The stamp of the program's run, which is made where there is none of this program."""
    work = work_of(program)
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # several ask at once
        stamp = work / "stamp.json"
        digest = digest_of(program)
        try:
            before = json.loads(stamp.read_text(encoding="utf-8"))
            if before["program"] == digest:
                return before
        except (OSError, ValueError, KeyError):
            pass
        stamp.unlink(missing_ok=True)
        run = results.run_program(program, work)
        made = {"program": digest, "code": freshness.code_of(source), "output": run.output}
        write_atomically(stamp, json.dumps(made))
        return made


def digest_of(program: Path) -> str:
    status = program.stat()
    return _digest(program, status.st_mtime_ns, status.st_size)


@functools.cache  # a page asks for the same large program several times
def _digest(program: Path, _changed: int, _bytes: int) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()


def kept_run(main: Path, program: Path, commit: str) -> results.Results:
    """The run that is kept, with what each rung prints by itself. Where only prose has changed since it was made, the lines that it
    names are moved along."""
    if not program.exists():
        return results.run_program(program, work_of(program), commit)  # which says so
    stamp = _made(main, program)
    run = simulated_results(main, program)
    run.commit = commit
    if "shown" not in stamp:
        results.show_rungs(program, run)
        stamp["shown"] = run.shown
        write_atomically(work_of(program) / "stamp.json", json.dumps(stamp))
    run.shown = stamp["shown"]
    code = freshness.code_of(main)
    if stamp["code"]["digest"] == code["digest"]:
        freshness.moved_lines(run, stamp["code"], code)
    return run
