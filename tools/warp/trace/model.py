"""What the simulator writes to SIMT_JSON (common/simt/ending/trace_json.cpp), as data classes; base/records.py reads them."""

from dataclasses import dataclass, field
from typing import Optional

from warp.base.records import NOTED

Counts = dict[str, int]


@dataclass
class Example:
    """One request of a warp: the bytes that its lanes ask for, from the start of a line of 128; None takes no part."""

    access: str  # load, store or atomic
    space: str  # global or shared
    size: int  # bytes of a lane
    addresses: list[Optional[int]]
    wavefronts: Optional[int] = None  # of a load or store in shared memory, which takes `phase_lanes` at once
    phase_lanes: Optional[int] = None


@dataclass
class Line:
    """What was counted at a line of a source."""

    file: str
    line: int
    counts: Counts
    examples: list[Example] = field(default_factory=list)  # one of each kind of access
    polls: int = 0  # loads of what the one before has loaded, to wait for a change


@dataclass
class Finding:
    """What is wrong, and where."""

    kind: str = "finding"
    severity: str = "error"  # or warning
    message: str = ""
    file: str = ""
    line: int = 0
    block: Optional[list[int]] = None
    thread: Optional[list[int]] = None
    address: str = ""
    allocation: str = ""
    kernel: str = field(default="", metadata=NOTED)  # "": in host code
    launch: Optional[int] = field(default=None, metadata=NOTED)


@dataclass
class Compiled:
    """What was counted of a launch's machine code: in all, by line, and the instructions by kind (machinecode/bounds.py)."""

    counts: Counts
    lines: list[Line] = field(default_factory=list)
    executed: Counts = field(default_factory=dict)


@dataclass
class LeastTime:
    """What one resource takes alone."""

    resource: str
    seconds: float
    what: str


@dataclass
class Limit:
    """The time below which a GPU cannot run a launch, and the resource that sets it."""

    gpu: str
    seconds: float
    resource: str
    bounds: list[LeastTime]


@dataclass
class RecordedStep:
    """What a warp of the first block did next, where SIMT_RECORD asks for it."""

    what: str  # enter (a block of code), load, store, atomic, wait, or meet: all of the block are at the barrier
    file: str
    line: int
    warp: Optional[int] = None  # nobody's alone where all meet
    lanes: Optional[int] = None  # a bit for each that takes part
    space: str = ""  # of an access: global or shared
    size: Optional[int] = None  # bytes of a lane
    addresses: list[int] = field(default_factory=list)  # of the lanes that take part, from the start of their memory
    sectors: Optional[int] = None
    wavefronts: Optional[int] = None


@dataclass
class Launch:
    """One launch of a kernel."""

    index: int
    kernel: str
    grid: list[int]
    block: list[int]
    counts: Counts
    dynamic_shared: Optional[int] = None  # bytes
    traced_blocks: Optional[int] = None  # of which counts are known; fewer than there are, of a sample
    is_sized_by_device: bool = False
    reads_textures: bool = False
    global_sectors_read_distinct: Optional[int] = None  # each counted once; None where they lie too far apart
    global_sectors_written_distinct: Optional[int] = None
    global_atomics_on_one_word: int = 0
    lines: list[Line] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    recording: Optional[list[RecordedStep]] = None  # where SIMT_RECORD asks for it
    compiled: Optional[Compiled] = field(default=None, metadata=NOTED)
    not_carried_out: str = field(default="", metadata=NOTED)  # why its machine code was not
    bound: Optional[Limit] = field(default=None, metadata=NOTED)
    variant: str = field(default="", metadata=NOTED)  # of the rung that made it

    def distinct(self) -> int:
        """Sectors that it touches, read or written."""
        return (self.global_sectors_read_distinct or 0) + (self.global_sectors_written_distinct or 0)


@dataclass
class KernelSum:
    """All launches of a kernel together."""

    kernel: str
    launches: list[int]
    counts: Counts


@dataclass
class Scheduled:
    """A piece of work that the program has given to a stream."""

    what: str  # a kernel's name; or HtoD, memset, host function and the like
    stream: int  # from 1 in the order in which they are used in the round; 0: a default stream
    device: int
    file: str
    line: int
    after: list[int]  # the work of the round that it waits for: of each stream the last


@dataclass
class Round:
    """What the host asked for from one wait for all work to the next."""

    work: list[Scheduled]
    is_cut: bool = False  # there was more than is kept


@dataclass
class Trace:
    """All that a simulated program did."""

    launches: list[Launch]
    kernels: list[KernelSum] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # of host code
    rounds: list[Round] = field(default_factory=list)  # of a program that has made streams
    notes: list[str] = field(default_factory=list)  # what the counts leave out
