"""The chapters' runs on the simulator that the repository keeps, so that the site can be built where no program is.

    ./learn author simulated [NN ...]     keeps those of all chapters, or of these, and says which have changed

The programs have to be built: ./learn test py.course.simulated builds them, and compares.
"""

import json
import lzma
import os
import re
import shutil
import sys
import tempfile
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "simulator"
sys.path.insert(0, str(ROOT / "tools"))

from warp.chapter import run, source
from warp.chapter.errors import ResultsError
from warp.site import agreement, chapter_drawings

# What is another one each time, or on another machine: where the course and what a program allocates lie, how often one who waits
# looks, and at least how many atomics met on a word, which is found in a table by address.
PLACES = re.compile(
    r"/[^\s\":]*/(?=(?:chapters|common)/)|\b0x[0-9a-f]{6,}\b|'(?:polls|global_atomics_on_one_word)': \d+, "
)


def is_hung(launch):
    return any(finding.get("kind") == "hang" for finding in launch.get("findings", []))


def told(main, build):
    """All that pages show of a chapter's run, by what it is, as text."""
    simulated = run.kept_run(main, run.program_of(main, build), "")
    launches = simulated.trace.get("launches", [])
    several = any(launch.get("device") for launch in launches)  # GPUs, which wait for each other as long as it takes
    waits = [is_hung(launch) or (several and any(line.get("polls") for line in launch["lines"])) for launch in launches]
    for launch, is_other in zip(launches, waits):
        if is_other:
            launch["counts"] = launch["lines"] = "of as long as it waited"
        for name in ("index", "global_sectors_read_distinct", "global_sectors_written_distinct") if several else ():
            launch.pop(name, None)  # which of them came first
    for row in simulated.rows:
        if row.launches and any(waits[row.launches.first : row.launches.end]):
            row.counts = {}
    facts = {"rows": simulated.rows, "shown": simulated.shown, "findings": simulated.trace.get("findings")}
    facts["launches"] = sorted(map(str, launches)) if several else launches
    facts["drawings"] = chapter_drawings.own(source.parse_chapter(main, source.other_files(main)), simulated)
    return {name: PLACES.sub("", str(fact)) for name, fact in facts.items()}


def differences(main, build):
    """What of the run that is kept is not what the chapter's program says."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            kept = told(main, Path(empty))
        except (ResultsError, OSError):  # that of other code, or without what a drawing needs
            return ["no run of this code is kept"]
    found = [name for name, text in told(main, build).items() if text != kept[name]]
    if not found:
        return []
    return [name for name, text in told_anew(main, build).items() if text != kept[name]]


def told_anew(main, build):
    """Of a run with one thread: how often blocks look at what they wait for depends on nothing else then."""
    shutil.rmtree(run.work_of(run.program_of(main, build)))  # with what earlier programs left
    with unittest.mock.patch.dict(os.environ, SIMT_THREADS="1"):
        return told(main, build)


def launches():
    """Of the programs whose counts are shown beside the hardware's: what the page has of each launch."""
    programs, made = run.build_folder() / "tests" / "simulator", {}
    counted = json.loads((TESTS / "agreement" / "h200.json").read_text(encoding="utf-8"))["programs"]
    with tempfile.TemporaryDirectory() as work:
        for name in ("microkernels/microkernels", *(f"agreement/agreement_{one}" for one in counted)):
            said = agreement.launches_of(programs / name, Path(work, "trace.json"))
            shown = [{fact: one[fact] for fact in ("kernel", "grid", "block", "counts")} for one in said]
            made[(programs / name).name] = shown
    return made


def main(words):
    for chapter in source.find_chapters(ROOT / "chapters"):
        if words and chapter.parent.name[:2] not in words:
            continue
        program = run.program_of(chapter, run.build_folder())
        found = differences(chapter, run.build_folder())
        if found:
            told_anew(chapter, run.build_folder())
            run.pack(chapter, program)
        print(f"{chapter.parent.name}: {', '.join(found) or 'the same'}", flush=True)
    if not words and (made := launches()) != run.kept_launches(ROOT):
        said = {"code": run.code_of_launches(TESTS), "launches": made}
        (TESTS / "simulated.json.xz").write_bytes(lzma.compress(json.dumps(said).encode(), preset=9))
        print("beside the hardware: kept anew")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
