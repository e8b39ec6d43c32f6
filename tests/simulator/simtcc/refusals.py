"""refusals.py [--simtcc FILE] [--nvcc FILE]: each compiler refuses and takes what refusals/snippets.cu says, whose head
tells how; so both do the same.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SNIPPETS = os.path.join(HERE, "refusals", "snippets.cu")

# fmt: off
INCLUDES = [
    "algorithm", "array", "cassert", "chrono", "cmath", "cstdio", "cstdlib", "cstring", "ctime", "functional",
    "initializer_list", "iostream", "iterator", "limits", "memory", "new", "numeric", "string", "type_traits",
    "typeinfo", "utility", "vector",
]
# fmt: on
PRELUDE = "".join(f"#include <{name}>\n" for name in INCLUDES)

MISTAKES = os.path.join(os.path.dirname(SNIPPETS), "mistakes.txt")
PRELUDE_OF_MISTAKES = """#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
struct S { int a, b, c; };
__global__ void k(float* p, int n) { p[n] = 1; }
"""
OWN_NAMES = re.compile(r"\bsimt::|\bsimt_\w|\bdetail::|include/simt/|prelude\.h")
HEAD = re.compile(r"//- (?P<alone>alone )?(?P<ours>ours )?(?P<name>.+)")
EXPECTED = re.compile(r"// expected-(?P<kind>error|warning)@(?P<line>\d+):(?P<column>\d+) \{\{(?P<message>.*)\}\}")
EXPECTED_ABOVE = re.compile(r"// expected-error@-1 \{\{(.*)\}\}")
# How nvcc's front end, ptxas and simtcc name a place.
NVCC = re.compile(r"^(?P<file>[^\s(]+)\(\d+\): (?P<kind>[Ee]rror|warning)", re.MULTILINE)
OURS = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>error|warning): (?:simt: )?"
    r"(?P<message>.*)$",
    re.MULTILINE,
)


class Snippet:
    def __init__(self, index, head, expected, text):
        self.index, self.text = index, text
        self.name, self.alone, self.ours = head["name"], bool(head["alone"]), bool(head["ours"])
        self.what = {"error": "refused", "warning": "warned"}[expected["kind"]] if expected else "accepted"
        self.place = (int(expected["line"]), int(expected["column"])) if expected else None
        self.message = expected["message"] if expected else None
        self.refused_by_nvcc = self.what == "refused" and not self.ours
        self.file = f"snippet_{index}.cu"

    def in_namespace(self):
        """Its lines and columns stay: the namespace opens on the line before."""
        return f'namespace s{self.index} {{\n#line 1 "{self.file}"\n{self.text}\n}}\n'


def read():
    snippets = []
    with open(SNIPPETS, encoding="utf-8") as source:
        _, *parts = re.split(r"^(?=//- )", source.read(), flags=re.MULTILINE)
    for part in parts:
        first, *lines = part.rstrip("\n").split("\n")
        head, expected = HEAD.fullmatch(first), EXPECTED.fullmatch(lines[0] if lines else "")
        if not head or (not expected and "// expected-" in part):
            raise SystemExit(f"{SNIPPETS}: cannot read '{first}', or what is expected of it")
        text = "\n".join(lines[1:] if expected else lines)
        snippets.append(Snippet(len(snippets), head, expected, text))
    return snippets


def output_of(command, folder):
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stdout


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


class Test:
    def __init__(self, simtcc, nvcc, folder):
        self.simtcc, self.nvcc, self.folder = simtcc, nvcc, folder
        self.failures = []

    def fail(self, snippet, text):
        self.failures.append(f"{snippet.name}: {text}")

    # ---- simtcc

    def run_simtcc(self, name, source):
        write(self.folder, name, source)
        return output_of(
            [self.simtcc, "-c", "-w", "--fast", "-O0", "--extended-lambda", name, "-o", name + ".o"], self.folder
        )

    def check_words(self, output):
        """No message speaks of what the reader has not written."""
        for line in output.split("\n"):
            if OWN_NAMES.search(line):
                self.failures.append("a name of the simulator's own: " + line)

    def check_mistakes(self):
        """g++ tells each of MISTAKES at its line; told as g++ does, some would name what the simulator makes of them."""
        prelude = PRELUDE_OF_MISTAKES.count("\n")
        lines, wanted = [], {}
        with open(MISTAKES, encoding="utf-8") as file:
            for line in file.read().split("\n"):
                if expected := EXPECTED_ABOVE.fullmatch(line):
                    wanted[len(lines) - 1] = expected[1]
                elif line and not line.startswith("//"):
                    lines.append(line)
        body = "".join(f"namespace m{number} {{ {line} }}\n" for number, line in enumerate(lines))
        status, output = self.run_simtcc("mistakes.cu", PRELUDE_OF_MISTAKES + body)
        self.check_words(output)
        told = {}
        for number, said in re.findall(r"^mistakes\.cu:(\d+):\d+: error: (.*)", output, re.MULTILINE):
            told.setdefault(int(number), []).append(said)
        for index, line in enumerate(lines):
            said = told.get(prelude + 1 + index, [])
            if status == 0 or not said:
                self.failures.append("nothing is said of: " + line)
            elif index in wanted and (len(said) != 1 or wanted[index] not in said[0]):
                self.failures.append(f"'{wanted[index]}' is not what is said of: {line}\n  " + "\n  ".join(said))

    def messages(self, snippets):
        """What simtcc says of each, in as few runs as there are stages of it: an early refusal hides later ones."""
        found = {snippet.file: [] for snippet in snippets}
        left = list(snippets)
        while left:
            text = PRELUDE + "".join(snippet.in_namespace() for snippet in left)
            status, output = self.run_simtcc("all.cu", text)
            self.check_words(output)
            told = [match for match in OURS.finditer(output) if match["file"] in found]
            for match in told:
                found[match["file"]].append(match)
            refused = {match["file"] for match in told if match["kind"] == "error"}
            if not refused:
                if status != 0:
                    self.failures.append("simtcc fails, and says not of what:\n" + output[-2000:])
                break
            left = [snippet for snippet in left if snippet.file not in refused]
            for snippet in left:
                found[snippet.file] = []  # a warning comes again
        return found

    def check_messages(self, snippet, matches):
        errors = [match for match in matches if match["kind"] == "error"]
        warnings = [match for match in matches if match["kind"] == "warning"]
        if snippet.what == "accepted":
            for match in errors + warnings:
                self.fail(snippet, "simtcc says: " + match[0])
            return
        wanted = errors if snippet.what == "refused" else warnings
        if snippet.what == "warned" and errors:
            self.fail(snippet, "simtcc refuses it: " + errors[0][0])
            return
        if not wanted:
            self.fail(snippet, "simtcc says nothing")
            return
        if len(wanted) > 1:
            self.fail(snippet, "simtcc says more than one sentence: " + "; ".join(match[0] for match in wanted))
        match = wanted[0]
        place = (int(match["line"]), int(match["column"] or 0))
        # names without the namespace that this test has put around them
        message = re.sub(r"\bs\d+::", "", match["message"])
        if place != snippet.place or message != snippet.message:
            self.fail(snippet, f"simtcc says {place[0]}:{place[1]} {message}")

    def run_ours(self, snippets):
        together = [snippet for snippet in snippets if not snippet.alone]
        found = self.messages(together)
        for snippet in together:
            self.check_messages(snippet, found[snippet.file])
        for snippet in snippets:
            if snippet.alone:
                status, output = self.run_simtcc(snippet.file, snippet.text + "\n")
                self.check_messages(snippet, list(OURS.finditer(output)))
                if (status != 0) != (snippet.what == "refused"):
                    self.fail(snippet, f"simtcc ends with {status}")

    # ---- nvcc

    def run_nvcc(self, arguments, name, source):
        write(self.folder, name, source)
        flags = ["-std=c++17", "-arch=sm_90", "--extended-lambda", "-Xcudafe", "--error_limit,1000"]
        return output_of([self.nvcc] + flags + arguments + [name, "-o", os.devnull], self.folder)

    def refused_by_nvcc(self, snippets):
        """The files of those that it refuses: its two front ends say so in stages, device code first."""
        refused = set()
        for mode in ("-ptx", "-cuda"):
            while True:
                left = [snippet for snippet in snippets if snippet.file not in refused]
                # Instances of templates come behind all else: the last file is nobody's.
                text = PRELUDE + "".join(snippet.in_namespace() for snippet in left) + '#line 1 "end.cu"\n'
                _, output = self.run_nvcc([mode], "all.cu", text)
                new = {match["file"] for match in NVCC.finditer(output) if match["kind"] != "warning"}
                new &= {snippet.file for snippet in left}
                if not new:
                    break
                refused |= new
        return refused

    def run_theirs(self, snippets):
        together = [snippet for snippet in snippets if not snippet.alone]
        refused = self.refused_by_nvcc(together)
        for snippet in snippets:
            if not snippet.alone and (snippet.file in refused) == snippet.refused_by_nvcc:
                continue
            # Among others nvcc blames some faults on the wrong file; alone it is right.
            status, _ = self.run_nvcc(["-c"], snippet.file, PRELUDE + "#line 1\n" + snippet.text + "\n")
            if (status != 0) != snippet.refused_by_nvcc:
                self.fail(snippet, "nvcc refuses it" if status else "nvcc compiles it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simtcc", type=os.path.abspath)
    parser.add_argument("--nvcc")
    compilers = parser.parse_args()
    if not compilers.simtcc and not compilers.nvcc:
        parser.error("name a compiler, or both")
    snippets = read()
    names = [snippet.name for snippet in snippets]
    assert len(names) == len(set(names)), "two parts have one name"
    assert len(snippets) >= 150, f"{len(snippets)} parts only"
    with tempfile.TemporaryDirectory() as folder:
        for snippet in snippets:  # simtcc looks for its columns there
            write(folder, snippet.file, snippet.text + "\n")
        test = Test(compilers.simtcc, compilers.nvcc, folder)
        if compilers.simtcc:
            test.run_ours(snippets)
            test.check_mistakes()
        if compilers.nvcc:
            test.run_theirs(snippets)
    for failure in test.failures:
        print("FAIL " + failure)
    held = " and ".join(name for name in ("simtcc", "nvcc") if getattr(compilers, name))
    print(f"{len(snippets)} parts, {len(test.failures)} failures of {held}")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
