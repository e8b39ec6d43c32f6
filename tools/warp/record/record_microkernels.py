#!/usr/bin/env python3
"""Makes the tests' vector of what h200.sh counted: record_microkernels.py microkernels.json

Writes tests/simulator/microkernels/h200.json: for each microkernel the counts, made of its metrics, without these.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))

from warp.record.counters import counts_of  # noqa: E402

VECTOR = Path(__file__).resolve().parents[3] / "tests" / "simulator" / "microkernels" / "h200.json"
KEPT = ("what", "device", "driver", "toolkit", "ncu", "date", "commit")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    measured = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if measured["program_exit_code"] != 0:
        print(f"record_microkernels: the program failed, exit code {measured['program_exit_code']}", file=sys.stderr)
        return 1
    cases = {
        launch["kernel"].split("(")[0]: {
            "grid": launch["grid"],
            "block": launch["block"],
            "counts": counts_of(launch["metrics"]),
        }
        for launch in measured["launches"]
    }
    if len(cases) != len(measured["launches"]):
        print("record_microkernels: some kernels were launched twice", file=sys.stderr)
        return 1
    # A line for each case, so that a change shows which.
    lines = [f" {json.dumps(key)}: {json.dumps(measured[key])}," for key in KEPT]
    lines += [' "architecture": "sm_90a",', ' "cases": {']
    lines += [",\n".join(f"  {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())]
    VECTOR.write_text("\n".join(["{", *lines, " }", "}"]) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases -> {VECTOR}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
