"""The simulator's run of a chapter's program, made once for each program. Where the program is not built, it is the run that the
repository keeps, of the same code. Standard library only."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warp.base.files import write_atomically
from warp.base.text import there
from warp.chapter import freshness, results
from warp.chapter.written import Row

ROOT = Path(__file__).resolve().parents[3]
KEPT = "simulated.tar.xz"  # with a chapter's recorded results; ./learn author simulated makes it
PLACE = b"@ROOT@"  # of the course, in what is kept


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
    made_from = program if program.exists() else kept_of(source)
    if not made_from:
        raise results.ResultsError(
            f"{program} is not built: ./learn run {source.resolve().parent.name[:2]} --backend simulator"
        )
    status = made_from.stat()
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
        kept = None if program.exists() else kept_of(source)
        name, digest = ("kept", _sha256(kept)) if kept else ("program", program.exists() and digest_of(program))
        try:
            before = json.loads(stamp.read_text(encoding="utf-8"))
            if before[name] == digest:
                return before
        except (OSError, ValueError, KeyError):
            pass
        stamp.unlink(missing_ok=True)
        if kept:
            made = {**unpacked(kept, work, source.resolve().parents[2]), "kept": digest}
            write_atomically(stamp, json.dumps(made))
            return made
        run = results.run_program(program, work)
        made = {"program": digest, "code": freshness.code_of(source), "output": run.output}
        write_atomically(stamp, json.dumps(made))
        return made


def kept_of(source: Path) -> Path | None:
    """The run that the repository keeps of this code, if it keeps one."""
    import tarfile

    kept = source.parent / "results" / KEPT
    if not kept.exists():
        return None
    with tarfile.open(kept) as archive:
        code = _stamp_in(archive)["code"]["digest"]
    return kept if code == freshness.code_of(source)["digest"] else None


def _stamp_in(archive: Any) -> dict:
    """Which is the first in it, so that the rest need not be unpacked."""
    return json.loads(archive.extractfile(archive.next()).read())


def unpacked(kept: Path, work: Path, root: Path) -> dict:
    """Puts what is kept of a run into `work`; its stamp."""
    import tarfile

    with tarfile.open(kept) as archive:
        stamp = _stamp_in(archive)
        for one in archive:
            data = there(archive.extractfile(one)).read()
            file = work / one.name
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, data.replace(PLACE, str(root).encode()) if file.suffix == ".json" else data)
    return stamp


def kept_launches(root: Path) -> dict[str, list[dict]] | None:
    """Those of the programs that are counted on the hardware, too, by program, if the repository keeps them of this code."""
    import lzma

    tests = root / "tests" / "simulator"
    kept = tests / "simulated.json.xz"
    if not kept.exists():
        return None
    said = json.loads(lzma.decompress(kept.read_bytes()))
    return said["launches"] if said["code"] == code_of_launches(tests) else None


def code_of_launches(tests: Path) -> str:
    sources = sorted(file for part in ("microkernels", "agreement") for file in (tests / part).glob("*.[ch]*"))
    code = [(file.name, text) for file in sources for _, text in freshness.code_lines(file.read_text(encoding="utf-8"))]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def pack(source: Path, program: Path) -> None:
    """Keeps the run of a program, and what its drawings made of it, in the repository."""
    import tarfile

    work, root = work_of(program), str(source.resolve().parents[2]).encode()
    files = [file for file in sorted(work.rglob("*")) if file.is_file() and file.name not in ("lock", "stamp.json")]
    with tarfile.open(source.parent / "results" / KEPT, "w:xz", preset=9) as archive:
        for file in [work / "stamp.json", *files]:
            data = file.read_bytes()
            data = data.replace(root, PLACE) if file.suffix == ".json" else data
            one = tarfile.TarInfo(file.relative_to(work).as_posix())
            one.size = len(data)
            archive.addfile(one, io.BytesIO(data))


def digest_of(program: Path) -> str:
    """Of the program that a run was made with."""
    if not program.exists():
        return json.loads((work_of(program) / "stamp.json").read_text(encoding="utf-8"))["program"]
    status = program.stat()
    return _digest(program, status.st_mtime_ns, status.st_size)


@functools.cache  # a page asks for the same large program several times
def _digest(program: Path, _changed: int, _bytes: int) -> str:
    return _sha256(program)


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def kept_run(main: Path, program: Path, commit: str) -> results.Results:
    """The run that is kept, with what each rung prints by itself. Where only prose has changed since it was made, the lines that it
    names are moved along."""
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
