#!/usr/bin/env python3
"""Holds the compiler to the memory instructions that each microkernel is meant to have.

usage: check_sass.py PROGRAM [--sass FILE | --source microkernels.cu [--arch sm_90a]]

PROGRAM is the microkernels' program, built for either backend: `PROGRAM --sass` says what each kernel's
machine code must hold. The machine code comes from FILE (what `cuobjdump --dump-sass` printed), or from
compiling the source with nvcc, or from PROGRAM itself if nvcc built it. Exit code 0: all kernels hold
exactly what they must; 1: some do not; 77: no disassembler (or no nvcc) is installed, nothing checked.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from warp.machinecode import disassembly, kinds  # noqa: E402

MEMORY = {*kinds.MEMORY, "LDTM"}

# Parts of an instruction's name that say nothing about what it accesses.
IDLE = {
    "E",
    "STRONG",
    "GPU",
    "CONSTANT",
    "EF",
    "EL",
    "LU",
    "NA",
    "SYS",
    "CTA",
    "SM",
    "RN",
    "FTZ",
    "S32",
    "U32",
    "32",
    "64F",
    "WEAK",
    "PRIVATE",
}


def normalised(instruction):
    """LDG.E.64.CONSTANT -> LDG.64; ATOMS.POPC.INC.32 -> ATOMS.POPC.INC."""
    return ".".join([instruction.opcode] + [part for part in instruction.modifiers if part not in IDLE])


def found_in(sass):
    """Function name -> Counter of its memory instructions. Functions that are called are their own."""
    return {
        function.symbol: collections.Counter(
            normalised(one) for one in function.instructions if one.opcode in MEMORY and not one.never
        )
        for function in disassembly.parse(sass)
    }


def kernel_of(symbol):
    """_Z12lds8_stride19Arguments -> lds8_stride1; None for what is no kernel of ours."""
    match = re.match(r"_Z(\d+)", symbol)
    if not match:
        return None
    start = match.end()
    name, rest = symbol[start : start + int(match.group(1))], symbol[start + int(match.group(1)) :]
    return name if rest == "9Arguments" else None


def expected_from(listing):
    expected = {}
    for line in listing.splitlines():
        name, _, text = line.partition("\t")
        counts = collections.Counter()
        for item in text.split():
            opcode, _, n = item.rpartition(":")
            counts[opcode] += int(n)
        expected[name] = counts
    return expected


def text_of(counts):
    return " ".join("{}:{}".format(*item) for item in sorted(counts.items())) or "nothing"


def compare(expected, sass):
    """A line for each kernel that differs."""
    kernels = {}
    for symbol, counts in found_in(sass).items():
        name = kernel_of(symbol)
        if name:
            kernels[name] = counts
    problems = [f"{n}: no such kernel in the machine code" for n in expected if n not in kernels]
    problems += [f"{n}: a kernel that no case names" for n in kernels if n not in expected]
    problems += [
        f"{n}: must hold {text_of(expected[n])}, holds {text_of(kernels[n])}"
        for n in expected
        if n in kernels and expected[n] != kernels[n]
    ]
    return problems


def main():
    parser = argparse.ArgumentParser(description="Checks the microkernels' machine code.")
    parser.add_argument("program")
    parser.add_argument("--sass")
    parser.add_argument("--source")
    parser.add_argument("--arch", default="sm_90a")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)

    if arguments.sass:
        with open(arguments.sass) as file:
            sass = file.read()
    else:
        cuobjdump = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump")
        if not cuobjdump or (arguments.source and not shutil.which("nvcc")):
            print("check_sass.py: skipped: nvcc and cuobjdump are needed, and not both are installed")
            return 77
        with tempfile.TemporaryDirectory() as folder:
            binary = arguments.program
            if arguments.source:
                binary = os.path.join(folder, "microkernels.cubin")
                subprocess.run(
                    ["nvcc", "-std=c++20", "-arch=" + arguments.arch, "-cubin", "-o", binary, arguments.source],
                    check=True,
                )
            sass = subprocess.run(
                [cuobjdump, "--dump-sass", binary], check=True, text=True, stdout=subprocess.PIPE
            ).stdout
    listing = subprocess.run([arguments.program, "--sass"], check=True, text=True, stdout=subprocess.PIPE).stdout
    expected = expected_from(listing)
    if not expected:
        print("check_sass.py: the program names no case")
        return 1
    problems = compare(expected, sass)
    for problem in problems:
        print(problem)
    print(f"{len(expected) - len(problems)} kernels hold what they must, {len(problems)} do not")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
