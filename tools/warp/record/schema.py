"""The JSON Schema of what the simulator writes to SIMT_JSON: ./learn author schema."""

from __future__ import annotations

import json

from warp.base import records
from warp.trace.model import Trace


def main(words: list[str]) -> int:
    print(json.dumps(records.schema(Trace), indent=1))
    return 0
