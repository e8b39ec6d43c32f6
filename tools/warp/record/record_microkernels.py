"""Makes the tests' vector of what h200.sh counted: record_microkernels.py microkernels.json

Writes tests/simulator/microkernels/h200.json: for each microkernel the counts, made of its metrics, without these.
"""

import json
import sys
from pathlib import Path

from warp.record.counters import counts_of

VECTOR = Path(__file__).resolve().parents[3] / "tests" / "simulator" / "microkernels" / "h200.json"
KEPT = ("what", "device", "driver", "toolkit", "ncu", "date", "commit")


def main(words: list[str]) -> int:
    if len(words) != 1:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    measured = json.loads(Path(words[0]).read_text(encoding="utf-8"))
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
