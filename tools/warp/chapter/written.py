"""What a chapter's program writes with --json (common/lab/src/json.cpp), as data classes; base/records.py reads them."""

from dataclasses import dataclass, field
from typing import Any, Optional

from warp.base.text import there


@dataclass
class Times:
    """Milliseconds of a launch, of several runs."""

    median: float
    p10: float
    p90: float
    runs: int


@dataclass
class Clock:
    """What was seen of the device while it was timed: MHz of the SMs, watts, and why the clock was held down.

    `power_w` is a mean over a second: files of older programs have one beside rows that were timed for less, too."""

    sm_mhz: float
    sm_mhz_min: float
    power_w: Optional[float] = None
    throttled: str = ""


@dataclass
class Peer:
    """What a library takes for the same."""

    name: str
    time_ms: Times


@dataclass
class Launches:
    """Those of the program from `first` up to, and without, `end`."""

    first: int
    end: int


@dataclass
class Row:
    """One rung, or a variant of it, at one size. What has nothing to say is absent; a number that is none is None."""

    rung: str
    size: dict[str, int]
    status: str  # PASS, FAIL, SKIP or ERROR
    variant: str = ""
    reason: str = ""
    max_error: Optional[float] = None
    tolerance: Optional[float] = None
    time_ms: Optional[Times] = None
    clock: Optional[Clock] = None
    first_ms: Optional[float] = None
    rate: Optional[float] = None
    rate_unit: str = ""
    peer: Optional[Peer] = None
    ratio_to_peer: Optional[float] = None
    fraction_of_limit: Optional[float] = None
    counts: dict[str, int] = field(default_factory=dict)
    launches: Optional[Launches] = None

    @property
    def median(self) -> float:
        """The milliseconds of a row that was timed."""
        return there(self.time_ms).median

    @property
    def peer_rate(self) -> float:
        """What the rate of its peer would be, of a row that has one."""
        return there(self.rate) / there(self.ratio_to_peer)


@dataclass
class Report:
    """All rows of one run, and where it was. `machine_code` ./learn record adds."""

    chapter: str
    backend: str
    device: str
    driver: str
    toolkit: str
    date: str
    commit: str
    limits: dict[str, float]
    rows: list[Row]
    machine_code: Optional[dict[str, Any]] = None
