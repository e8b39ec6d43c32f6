"""The JSON Schema of what the simulator, lab and the grader write: ./learn author schema."""

from __future__ import annotations

import json

from warp.base import records
from warp.chapter.written import Report
from warp.exercise.outcomes import EVENTS
from warp.trace.model import Trace


def main(words: list[str]) -> int:
    schemas = {"trace": records.schema(Trace), "results": records.schema(Report)}
    schemas.update({f"event {name}": records.schema(kind) for name, kind in EVENTS.items()})
    print(json.dumps(schemas, indent=1))
    return 0
