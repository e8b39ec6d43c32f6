"""The simulator's run of a chapter's program, made once for each program. Standard library only."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path

from warp.base.files import write_atomically
from warp.chapter import freshness, results

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


def simulated_run(source: Path, build: Path) -> dict:
    """{"rows": [...], "launches": [{"kernel", "counts"}]} of a run at the default size.

    It is kept beside the build under the program's digest, so that only a program that changed runs again.
    """
    program = program_of(source, build)
    if not program.exists():
        raise results.ResultsError(
            f"{program} is not built: ./learn run {source.resolve().parent.name[:2]} --backend simulator"
        )
    status = program.stat()
    return _run(str(program), str(build), status.st_mtime_ns, status.st_size)


@functools.cache
def _run(program: str, build: str, _changed: int, _bytes: int) -> dict:
    digest = digest_of(Path(program))
    kept = _record_of(Path(program), Path(build))
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        if found["digest"] == digest:
            return found
    except (OSError, ValueError, KeyError):
        pass
    with tempfile.TemporaryDirectory() as folder:
        run = results.run_program(Path(program), Path(folder))
    found = _record(run, digest)
    write_atomically(kept, json.dumps(found))
    return found


def _record_of(program: Path, build: Path) -> Path:
    return build / "course" / f"{program.parent.name}.json"


def _record(run: results.Results, digest: str) -> dict:
    launches = [
        {"kernel": results.kernel_base(launch["kernel"]), "counts": launch["counts"]}
        for launch in run.trace.get("launches", [])
    ]
    return {"digest": digest, "rows": run.rows, "launches": launches}


def digest_of(program: Path) -> str:
    status = program.stat()
    return _digest(program, status.st_mtime_ns, status.st_size)


@functools.cache  # a page asks for the same large program several times
def _digest(program: Path, _changed: int, _bytes: int) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()


def kept_run(main: Path, program: Path, work: Path, commit: str) -> results.Results:
    """The program's run with all that it prints and traces, kept in `work` for as long as the program is the same. It is
    `simulated_run`'s, too, which does not run the program again.

    Where only prose has changed since, the lines that it names are moved along.
    """
    if not program.exists():
        return results.run_program(program, work, commit)  # which says so
    stamp, digest, code = work / "stamp.json", digest_of(program), freshness.code_of(main)
    try:
        before = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    if before.get("program") != digest:
        stamp.unlink(missing_ok=True)
        run = results.run_program(program, work, commit)
        results.show_rungs(program, run)
        write_atomically(_record_of(program, program.parents[2]), json.dumps(_record(run, digest)))
        kept = {"program": digest, "code": code, "output": run.output, "shown": run.shown}
        write_atomically(stamp, json.dumps(kept))
        run.program, run.work = program, work
        return run
    run = results.parse((work / "results.json").read_text(encoding="utf-8"), str(work / "results.json"))
    run.output, run.shown = before["output"], before["shown"]
    run.program, run.work = program, work
    if (work / "trace.json").exists():
        run.trace = json.loads((work / "trace.json").read_text(encoding="utf-8"))
        run.lines = results.lines_by_kernel(run.trace)
    if before["code"]["digest"] == code["digest"]:
        freshness.moved_lines(run, before["code"], code)
    return run
