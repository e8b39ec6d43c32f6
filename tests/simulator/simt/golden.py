"""The golden record: what every program of the simulator's tests traces and prints, byte for byte.

    ./learn author golden store FOLDER [--build build/simulator]
    ./learn author golden compare FOLDER [--build build/simulator]

For whoever changes common/simt. `store` runs the microkernels, the agreement programs, the samples and all planted
faults, one thread each, and keeps their traces, standard error and exit codes in FOLDER; `compare` runs them again
and shows the first line that differs in each. Build first: the targets are microkernels, agreement, planted,
endings and sample_*. A change that is meant to alter what a program says names those programs in its commit.

It is no test of `./learn test`: what it compares with is the state before a change, which the repository does not hold.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Addresses in traces are those of allocations: they must not depend on the system's mood.
FIXED_ADDRESSES = ["setarch", "-R"]


def commands(build):
    """Name -> command line of each run."""
    tests = build / "tests" / "simulator"
    runs = {"microkernels": [tests / "microkernels" / "microkernels"]}
    for program in sorted((tests / "agreement").glob("agreement_*")):
        if program.is_file() and os.access(program, os.X_OK):
            runs[program.name] = [program]
    for program in sorted((tests / "samples").glob("sample_*")):
        if program.is_file() and os.access(program, os.X_OK) and not program.name.startswith("sample_fast_"):
            runs[program.name] = [program]
    planted = tests / "findings" / "planted"
    listed = subprocess.run([planted, "--list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        for variant in ("faulty", "correct"):
            runs[f"{variant}.{line.split()[0]}"] = [planted, variant, line.split()[0]]
    return runs


def from_the_lowest(match):
    """The addresses of an example, counted from the lowest of them."""
    addresses = json.loads(b"{" + match[0] + b"}")["addresses"]
    lowest = min(address for address in addresses if address is not None)
    return json.dumps([None if address is None else address - lowest for address in addresses]).encode()


def outcome(command, trace):
    """What a run left: {file name: bytes}."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMT_")}
    environment.update(SIMT_JSON=str(trace), SIMT_THREADS="1", SIMT_STEPS="200000")
    done = subprocess.run(
        [*FIXED_ADDRESSES, *command], capture_output=True, check=False, env=environment, timeout=900, cwd=trace.parent
    )
    # A launch says that it is still at work when a machine is slow enough.
    stderr = re.sub(rb"^simt: still at .*\n", b"", done.stderr, flags=re.MULTILINE)
    left = {"stderr": stderr, "exit": b"%d\n" % done.returncode}
    if trace.exists():
        # Where the program's own variables lie, those of a thread among them, changes with all that is linked to it, and its
        # stack with the environment.
        left["trace"] = re.sub(
            rb'"address": "0x(?:5{6}|7f{4}[7f])[0-9a-f]{6}"', b'"address": "a variable"', trace.read_bytes()
        )
        # So does where in a line one of them begins, which examples show.
        left["trace"] = re.sub(rb'"addresses": \[[^]]*\]', from_the_lowest, left["trace"])
        trace.unlink()
    return left


def first_difference(old, new):
    """Of two files that differ: the number of the line, and both lines."""
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    number = next(
        (i for i, (a, b) in enumerate(zip(old_lines, new_lines)) if a != b), min(len(old_lines), len(new_lines))
    )
    a, b = (lines[number] if number < len(lines) else b"(nothing)" for lines in (old_lines, new_lines))
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    begin = max(0, at - 60)
    return number + 1, *((b"..." if begin else b"") + line[begin : at + 140] for line in (a, b))


def main():
    parser = argparse.ArgumentParser(description="stores or compares what the simulator's programs say")
    parser.add_argument("what", choices=("store", "compare"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "simulator")
    parser.add_argument("--only", help="runs whose name holds this text")
    arguments = parser.parse_args()
    runs = commands(arguments.build.resolve())
    if arguments.only:
        runs = {name: command for name, command in runs.items() if arguments.only in name}
    folder = arguments.folder.resolve()
    if arguments.what == "compare" and not folder.is_dir():
        sys.exit(f"golden: {folder} does not exist: `store` makes it")
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        left = dict(zip(runs, pool.map(lambda n: outcome(runs[n], folder / f"{n}.json"), runs)))
    differ = []
    for name, files in left.items():
        for kind in ("exit", "stderr", "trace"):
            path = folder / f"{name}.{kind}"
            if arguments.what == "store":
                path.unlink(missing_ok=True)
                if kind in files:
                    path.write_bytes(files[kind])
                continue
            old, new = path.read_bytes() if path.exists() else b"", files.get(kind, b"")
            if old == new:
                continue
            differ.append(name)
            number, before, after = first_difference(old, new)
            print(
                f"{name}.{kind}:{number}\n  - {before.decode(errors='replace')}\n  + {after.decode(errors='replace')}"
            )
    if arguments.what == "store":
        print(f"{len(runs)} programs stored in {folder}")
        return
    gone = {p.name.rsplit(".", 1)[0] for p in folder.glob("*.exit")} - set(runs) if not arguments.only else set()
    for name in sorted(gone):
        print(f"{name}: stored, and no program any more")
    print(f"{len(runs)} programs, {len(set(differ))} differ")
    sys.exit(bool(differ or gone))


if __name__ == "__main__":
    main()
