#!/usr/bin/env python3
"""Records what h200.sh counted of a chapter: record_counts.py NN_name.counters.json chapters/NN_name

Writes chapters/NN_name/results/h200_counts.json: the launches of the chapter's own kernels, in order and under the
kernels' bare names, without the metrics behind the counts. The site and the tests compare the simulator's counts with
it; where nvcc has changed an access, results/differences.json says so: {"kernel": {"count, or * for all": "why"}}.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from counters import counts_of  # noqa: E402
from course.results import kernel_base  # noqa: E402  the name that the site and the tests look for

KEPT = ("what", "device", "driver", "toolkit", "ncu", "date", "commit")


def kernels_of(folder: Path) -> set:
    """The names of the __global__ functions in a chapter's sources."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.cu*")))
    text = re.sub(r"//[^\n]*", "", text)
    return set(re.findall(r"__global__[^;{}]*?\b(\w+)\s*\((?!\s*\d)[^()]*\)\s*\{", text))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    measured = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    folder = Path(sys.argv[2])
    if measured["program_exit_code"] != 0:
        print(f"record_counts: the program failed, exit code {measured['program_exit_code']}", file=sys.stderr)
        return 1
    own = kernels_of(folder)
    launches = [{"kernel": kernel_base(launch["kernel"]), "grid": launch["grid"], "block": launch["block"],
                 "counts": counts_of(launch["metrics"])}
                for launch in measured["launches"] if kernel_base(launch["kernel"]) in own]
    if not launches:
        print(f"record_counts: no launch of a kernel of {folder}", file=sys.stderr)
        return 1
    arguments = measured["arguments"]
    size = arguments[arguments.index("--size") + 1] if "--size" in arguments else ""
    lines = [f" {json.dumps(key)}: {json.dumps(measured[key])}," for key in KEPT]
    lines += [f' "size": {json.dumps(size)},', ' "launches": [']
    lines += [",\n".join(f"  {json.dumps(launch)}" for launch in launches), " ]"]
    target = folder / "results" / "h200_counts.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(["{", *lines, "}"]) + "\n", encoding="utf-8")
    print(f"{len(launches)} launches of {len({launch['kernel'] for launch in launches})} kernels -> {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
