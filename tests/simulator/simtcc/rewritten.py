"""What simtcc makes of every .cu file of the repository, byte for byte.

    python3 tests/simulator/simtcc/rewritten.py store FOLDER [--simtcc build/simulator/bin/simtcc]
    python3 tests/simulator/simtcc/rewritten.py compare FOLDER [--simtcc build/simulator/bin/simtcc]

For whoever changes the rewriter without meaning to change what it does: `store` before, `compare` after. It shows the
first line that differs of each file. (No test of `./learn test`: the repository does not hold the state before a change.)
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
INCLUDES = ["-Icommon/lab/include", "-Icommon/grader/include", "-Icommon/grader/src", "-Itests"]


def rewritten(simtcc, source):
    """The text for g++, or what simtcc says instead."""
    exercise = source.replace("/check/", "/")
    command = [simtcc, "-std=c++20", "--print-rewritten", *INCLUDES, "-I" + os.path.dirname(source)]
    if exercise != source:
        command.append('-DEXERCISE="%s"' % (ROOT / exercise))
    done = subprocess.run(command + [source], cwd=ROOT, capture_output=True, check=False)
    return done.stdout + done.stderr


def first_difference(old, new):
    lines = zip(old.split(b"\n"), new.split(b"\n"))
    for number, (before, after) in enumerate(lines, 1):
        if before != after:
            old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
            return f"line {number}\n  - {old}\n  + {new}"
    return "one is longer"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["store", "compare"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--simtcc", type=pathlib.Path, default=ROOT / "build/simulator/bin/simtcc")
    options = parser.parse_args()
    simtcc = options.simtcc.resolve()
    listed = subprocess.run(["git", "ls-files", "*.cu"], cwd=ROOT, capture_output=True, text=True, check=True)
    sources = listed.stdout.split()
    options.folder.mkdir(parents=True, exist_ok=True)
    different = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = pool.map(lambda source: rewritten(simtcc, source), sources)
        for source, text in zip(sources, texts):
            kept = options.folder / source.replace("/", "__")
            if options.what == "store":
                kept.write_bytes(text)
            elif not kept.exists():
                print(f"{source}: not stored")
            elif kept.read_bytes() != text:
                different += 1
                print(f"{source}: {first_difference(kept.read_bytes(), text)}")
    if options.what == "compare":
        print(f"{len(sources)} files, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
