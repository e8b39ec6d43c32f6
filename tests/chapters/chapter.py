"""Runs a chapter's program and reads what it printed and wrote."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY_DIR = pathlib.Path(os.environ.get("WARP_BINARY_DIR", ROOT / "build" / "simulator"))


class Run:
    """One run: exit code, both streams, and the results file (None where there is none)."""

    def __init__(self, program, *arguments, results=True):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            command = [str(program), *arguments]
            if results:
                command += ["--json", str(file)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "NO_COLOR": "1"})
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.results = json.loads(file.read_text()) if file.exists() else None

    @property
    def rows(self):
        return self.results["rows"]

    def row(self, rung, variant=None):
        """The one row of a rung, or of one of its variants."""
        found = [row for row in self.rows
                 if row["rung"] == rung and (variant is None or row.get("variant") == variant)]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} rows of {rung} {variant or ''}")
        return found[0]

    def explain(self):
        """For the message of a failed assertion."""
        return f"exit code {self.code}\n{self.out}\n{self.err}"


class Chapter:
    """A chapter: its source, its header and its two programs."""

    def __init__(self, name):
        self.name = name
        self.short = name.split("_", 1)[1]
        self.source = ROOT / "chapters" / name / f"{self.short}.cu"
        self.program = BINARY_DIR / "chapters" / name / self.short
        self.fast = BINARY_DIR / "chapters" / name / f"{self.short}_fast"

    def header(self):
        """The consecutive comment lines at the start of the source."""
        lines = []
        for line in self.source.read_text().splitlines():
            if not line.startswith("//"):
                break
            lines.append(line)
        return lines

    def header_rungs(self):
        """Name and idea of every rung that the header lists, in order."""
        found = []
        for line in self.header():
            match = re.match(r"//\s+\./learn run \S+ --rung (\S+)\s+(.*)", line)
            if match:
                found.append((match.group(1), match.group(2).strip()))
        return found

    def run(self, *arguments, **options):
        return Run(self.program, *arguments, **options)
