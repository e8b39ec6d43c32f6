"""Makes the tests' record of what sanitize.py measured: record_planted.py FOLDER

Reads planted.json and planted.log.gz in FOLDER and writes tests/simulator/findings/h200.json: for each program with a
planted fault what each tool of compute-sanitizer reported, and how often. Each report must name the marked
line, so run this on the sources that were measured.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warp.record import sanitize

RECORD = sanitize.SOURCES / "h200.json"
KEPT = ("what", "device", "driver", "toolkit", "compute-sanitizer", "date", "commit")
RUN = re.compile(r"^### (\w+) (faulty|correct) (.*): exit (\S+)$", re.MULTILINE)


def marks() -> Any:
    """Program -> {[file, line]} of its fault, as the sources mark it."""
    lines: dict[Any, Any] = {}
    for source in sanitize.SOURCES.glob("*.cu"):
        for number, text in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"// fault: (\w+)", text):
                lines.setdefault(name, []).append([source.name, number])
    return lines


def runs(log: Any) -> Iterator[Any]:
    """(tool, variant, programs, exit, output) of each run in the log."""
    heads = list(RUN.finditer(log))
    for head, after in zip(heads, [*heads[1:], None]):
        yield (*head.groups(), log[head.end() : after.start() if after else len(log)])


def kind_of(report: Any) -> Any:
    """A report without what differs from run to run, and whether it only follows from another one."""
    kind = re.sub(r"\bof size [\d,]+ bytes?|[\d,]+ bytes?|\b(at|to) \*.*| in \*.*|\*", "", report["kind"])
    kind = re.sub(r"between (\w+) access at .*", r"between \1 access and another", kind)
    kind = " ".join(kind.split())
    # Once a kernel has failed, every call returns its error, and nothing can be freed any more.
    follows = bool(re.search(r"Program hit cudaError(LaunchFailure|Assert)", kind))
    return kind, follows


def main(words: list[str]) -> int:
    if len(words) != 1:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    folder = Path(words[0])
    measured = json.loads((folder / "planted.json").read_text(encoding="utf-8"))
    with gzip.open(folder / "planted.log.gz", "rt", encoding="utf-8") as file:
        log = file.read()

    marked = marks()
    programs: dict[str, dict[str, dict[str, Any]]] = {
        result["program"]: {"faulty": {}, "correct": {}} for result in measured["results"]
    }
    ran = set()
    for tool, variant, names, code, text in runs(log):
        errors, reports = sanitize.parse(text)
        for name in names.split():
            ran.add((name, tool, variant))
        if errors == 0 and code == "0" and not reports:
            continue
        if len(names.split()) > 1:
            continue  # then each of them was run by itself
        found = programs[names][variant]
        if code == "timeout":
            found[tool] = "did not end"
            continue
        kinds = [(*kind_of(report), report) for report in reports]
        failed = any(follows for _, follows, _ in kinds)
        found[tool] = {}
        for kind, follows, report in kinds:
            if follows or (failed and kind.startswith("Leaked")):
                continue
            at_fault = any(line in marked.get(names, []) for line in report["lines"])
            if variant == "faulty" and not at_fault and kind != "Warp assert":  # which names the kernel alone
                print(f"record_planted: {tool} {names}: no line of '{kind}' is marked", file=sys.stderr)
                return 1
            found[tool][kind] = found[tool].get(kind, 0) + report["count"]
        if errors and not found[tool]:
            print(f"record_planted: {tool} {names}: {errors} errors, none of them understood", file=sys.stderr)
            return 1
    missing = {
        (name, tool, variant) for name in programs for tool in sanitize.TOOLS for variant in ("faulty", "correct")
    } - ran
    if missing:
        print(f"record_planted: {len(missing)} runs are missing, {min(missing)} among them", file=sys.stderr)
        return 1

    # A line for each program, so that a change shows which.
    lines = [f" {json.dumps(key)}: {json.dumps(measured[key])}," for key in KEPT]
    lines += [' "programs": {']
    lines += [",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in programs.items())]
    RECORD.write_text("\n".join(["{", *lines, " }", "}"]) + "\n", encoding="utf-8")
    print(f"{len(programs)} programs -> {RECORD}")
    return 0
