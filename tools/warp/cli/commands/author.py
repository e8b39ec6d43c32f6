"""./learn author: what who writes the course needs, one action each. Their options are their own: ACTION --help has them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from warp.base import install, paths, steps, ui
from warp.base.errors import UsageError
from warp.base.machine import Machine
from warp.base.names import advice
from warp.cli.options import Arguments

# Action -> (what it does, its code: main(words) of a module of this package, or a script below tests/ by its name).
ACTIONS = {
    "check": ("numbers, predictions and lengths of chapters, and what is wrong with them", "chapter.authors"),
    "numbers": ("each bound number of the prose beside the value that it is computed from", "chapter.authors"),
    "value": ("what an expression of a chapter gives; without one, the times that it may ask for", "chapter.authors"),
    "asked": ("each prediction beside what the run answers, and what gives an answer away", "chapter.authors"),
    "limits": ("words, rungs, predictions and the longest stretch without a heading or kernel", "chapter.authors"),
    "sass": (
        "compiles with nvcc what the text says of machine code, records it, fills in the excerpts",
        "chapter.authors",
    ),
    "prove": (
        "exercises: the blank fails, the solution passes, each mutant fails for its own reason",
        "exercise.prove",
    ),
    "new-exercise": (
        "the four files of an exercise that works, for yours to be put in its place",
        "cli.commands.new_exercise",
    ),
    "bounds": ("the bound of every recorded rung beside its time; --write records them", "record.bounds_at_size"),
    "count": ("a program's kernels on the GPU with Nsight Compute, by the course's names", "record.counters"),
    "sanitize": ("the planted faults under compute-sanitizer, on a GPU", "record.sanitize"),
    "planted": ("the tests' record of what sanitize has measured", "record.record_planted"),
    "microkernels": ("the tests' record of what count has measured of the microkernels", "record.record_microkernels"),
    "fp32": ("fails where a program's product of floats ran on tensor cores", "record.fp32_kernels"),
    "schema": ("the JSON Schema of what the simulator, lab and the grader write", "record.schema"),
    "picture": ("the README's picture, from the recorded results", "site.picture"),
    "watch": ("the landing page's recording of ./learn watch", "site.record_watch"),
    "rules": ("the simulator's counting rules as WebAssembly, for the live figures", "site.rules"),
    "golden": ("what every program of the simulator's tests says: store it, compare with it", "golden.py"),
    "toolkits": ("compiles for a GPU with several CUDA Toolkits", "toolkits.py"),
    "simulated": (
        "the chapters' runs that the repository keeps for the site: writes those that changed",
        "simulated.py",
    ),
    "accessibility": ("axe and the Nu HTML checker over all pages of the site", "accessibility.py"),
}


def main(arguments: Arguments) -> int:
    if not arguments.words:
        width = max(map(len, ACTIONS))
        ui.say("usage: ./learn author ACTION ...\n")
        for name, (what, _) in ACTIONS.items():
            ui.say(f"  {name:<{width}}  {what}")
        return 0
    action, *words = arguments.words
    if action not in ACTIONS:
        raise UsageError(f"author knows no '{action}'{advice(action, ACTIONS, './learn author lists what it does')}")
    code = ACTIONS[action][1]
    if code.endswith(".py"):
        return script(code, words)
    module = importlib.import_module("warp." + code)
    if words[:1] in (["-h"], ["--help"]) and not hasattr(module, "argparse"):
        ui.say((module.__doc__ or "").strip())
        return 0
    return int(module.main([action, *words] if code == "chapter.authors" else words))


def script(name: str, words: list[str]) -> int:
    """Runs one that the tests have, too; what opens pages needs the site's Python."""
    (file,) = Path(paths.ROOT, "tests").rglob(name)
    python = install.ensure_venv(Machine()) if name == "accessibility.py" else sys.executable
    return steps.start([python, str(file), *words])
