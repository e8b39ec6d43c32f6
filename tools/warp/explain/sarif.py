"""The findings and the advice of a trace as SARIF 2.1.0, which editors and code hosts show at the line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from warp.base import paths
from warp.explain import problems, speed
from warp.machinecode.bounds import Gpu
from warp.machinecode.code import Compiled
from warp.trace import trace
from warp.trace.model import Trace

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "SRCROOT"  # the course's folder

# What a kind of finding is, in a sentence; a kind that is not here speaks for itself.
RULES = {
    "out-of-bounds": "A thread reads or writes outside an allocation.",
    "misaligned-access": "An access whose address is no multiple of its size.",
    "use-after-free": "Memory is used after it was freed.",
    "uninitialized-shared": "Shared memory is read that nobody in the block has written.",
    "uninitialized-global": "Global memory is read that nobody has written.",
    "shared-race": "Two threads of a block touch the same shared word, at least one writes, and no barrier is between.",
    "absent-block": "A thread accesses shared memory of a block of its cluster that may not have begun, or may have exited.",
    "global-race": "Two threads touch the same global memory, at least one writes, and nothing orders them.",
    "barrier-divergence": "A barrier that some threads of the block never reach.",
    "invalid-mask": "A _sync operation whose mask names a lane that does not take part.",
    "hang": "A kernel that does not come to its end.",
    "trap": "A kernel that ended itself, by a failed assertion or a trap.",
    "device-access": "Host code follows a pointer to device memory, or a kernel one to host memory.",
    "peer-access": "A kernel goes to memory of another device that is not open to its own.",
    "api-error": "A call of the CUDA runtime failed, and nobody looked.",
    "leak": "Device memory that was never freed.",
}


def render(
    recorded: Trace, launch: int | None = None, compiled: Sequence[Compiled] = (), gpu: Gpu | None = None
) -> str:
    """The text of a SARIF file. A finding is an error or a warning, advice is a note."""
    gpu = gpu or speed.gpu_named("")
    kernels, findings = trace.selected(recorded, launch, compiled)
    rules: list[dict[str, Any]] = []
    results = []

    def add(rule: str, description: str, level: str, text: str, file: str, line: int) -> None:
        if rule not in [known["id"] for known in rules]:
            rules.append({"id": rule, "shortDescription": {"text": description}})
        result = {
            "ruleId": rule,
            "ruleIndex": [known["id"] for known in rules].index(rule),
            "level": level,
            "message": {"text": text},
        }
        if file:
            region = {"region": {"startLine": line}} if line and line > 0 else {}
            result["locations"] = [{"physicalLocation": dict(artifactLocation=artifact(file), **region)}]
        if result not in results:
            results.append(result)

    for count, finding in trace.group(findings):
        kind = finding.kind
        text = finding.message or kind
        if count > 1:
            text += f" (and {count - 1} more of this kind at this line)"
        level = "warning" if finding.severity == "warning" else "error"
        description = RULES.get(kind, kind.replace("-", " ").capitalize() + ".")
        add(kind, description, level, text, finding.file, finding.line)
    for kernel in kernels:
        for whole in speed.problems(kernel, gpu):
            description = "The time is set by something that the memory accesses do not need."
            for file, line in whole.lines or speed.home(kernel):
                add("advice/" + whole.rule, description, "note", whole.sentence, file, line)
        for problem in problems.of_kernel(kernel):
            topic = problems.TOPICS[problem.chapter]
            rule = "advice/" + topic.replace(" ", "-")
            for file, line in problem.lines:
                description = f"The memory system is asked for more than the bytes need ({topic})."
                add(rule, description, "note", problem.sentence, file, line)
        if kernel.compiled:
            from warp.explain import lines

            for file, line, sentence in lines.what_nvcc_makes(kernel)[0]:
                add("compiled", "nvcc makes other accesses than the source has.", "note", sentence, file, line)
    driver = {"name": "Warp by Warp simulator", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {BASE: {"uri": "file://" + quote(paths.ROOT.rstrip("/") + "/")}},
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def artifact(file: str) -> dict[str, str]:
    """Relative to the course where the file lies below it, so that a code host finds it."""
    full = os.path.realpath(file)
    relative = os.path.relpath(full, os.path.realpath(paths.ROOT))
    if relative.startswith(".."):
        return {"uri": "file://" + quote(full)}
    return {"uri": quote(relative), "uriBaseId": BASE}
