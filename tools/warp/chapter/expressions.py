"""Evaluates the small expressions that bind numbers and answer predictions. Standard library only.

Python's syntax over numbers, strings, arithmetic, comparisons, `A if B else C`, tuples and these functions, in which
REF is "rung", "rung/variant" or, of another chapter, "02:rung/variant":

    count(REF, NAME[, KERNEL])      what the simulator counted at its default size
    ms(REF[, SIZE])                 median time in milliseconds on the GPU
    first(REF[, SIZE])              milliseconds of the first launch, on the host's clock
    rate(REF[, SIZE])               GB/s or GFLOP/s
    ratio(REF[, SIZE])              the peer's time over the rung's
    error(REF[, SIZE])              the largest error that the check found
    clock(REF[, SIZE])              MHz of the SMs while it was timed, the median
    power(REF[, SIZE[, FILE]])      watts, the mean of a second, where it was timed for so long
    limit("copy" | "fma" | KEY)     what the machine reached: GB/s, GFLOP/s, or another key of `limits`
    hw(REF, NAME)                   what Nsight Compute counted at the simulator's size
    ncu(REF, METRIC[, SIZE])        a metric of Nsight Compute at a measured size
    alone(REF, RESOURCE[, SIZE])    of results/GPU_bounds.json: milliseconds that a resource alone would take, as "issue slots"
    sass(KERNEL, WHAT[, WHERE])     of the recorded machine code: registers, spills, stack, shared, instructions, reuse,
                                    an opcode or LDG.128; WHERE is "kernel"; "loop", the inner one; or an opcode, as
                                    "FFMA": an iteration of the smallest loop with most of them, of a full tile; with that
                                    one also the "register reads" of its FFMAs, the "bank conflicts" of single ones, and
                                    the "cycles" of the iteration, by the banks (tools/warp/machinecode/registers.py)
    shapes(WHAT[, WHERE])           of results/GPU_shapes.json: a figure of its "summary", or the ratio of a shape "M,N,K";
                                    WHERE, an expression over the fields of a shape, as m or us, takes some of the random
                                    shapes: their "count", "geometric mean" and "least" of ratios, or the share "at least 0.9"
    orders(WHAT)                    of results/GPU_orders.json: a figure of its "summary", as "volatile columns: slowest"
    sum, min, max, round, abs

SIZE is 4096 (all extents), "4096,1024,512", or left out: that of `Size gpu`. All but `count` take gpu="h100" for
another GPU than the H200.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from warp.chapter import header as headers
from warp.chapter import results as stored
from warp.chapter.errors import ExpressionError, NotRecorded
from warp.chapter.run import SimulatedRun, simulated_run
from warp.chapter.written import Launches, Row

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_PLAIN: dict[str, Callable[..., Any]] = {
    "sum": lambda *values: sum(values),
    "min": min,
    "max": max,
    "round": round,
    "abs": abs,
}
_LIMITS = {"copy": "copy_gb_s", "fma": "fp32_gflop_s"}
_LARGEST_EXPONENT = 64


def names_in(expression: str) -> set[str]:
    """The functions that an expression calls."""
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        return set()
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


Of = TypeVar("Of")


@dataclass
class Placed(Generic[Of]):
    """A row of some file, with what it is found by."""

    rung: str
    variant: str | None
    extents: list[int]
    row: Of


def placed(rows: Iterable[Row]) -> list[Placed[Row]]:
    return [Placed(row.rung, row.variant or None, list(row.size.values()), row) for row in rows]


def placed_json(rows: Iterable[dict[str, Any]]) -> list[Placed[dict[str, Any]]]:
    """Of the files beside the results."""
    found = []
    for row in rows:
        size = row.get("size", {})
        extents = list(size if isinstance(size, list) else size.values())
        found.append(Placed(row["rung"], row.get("variant") or None, extents, row))
    return found


class Numbers:
    """The measurements of a chapter, and of its neighbours, read when they are first asked for.

    `build` is the folder of the simulator's build, where the programs are; `own` is a results file of this machine's
    GPU, whose times come before the recorded ones where it has them.
    """

    def __init__(self, source: Path, build: Path, own: Path | None = None) -> None:
        self.source = source.resolve()
        self.build = build
        self.own = stored.load(own) if own else None
        self.header = headers.read(self.source)
        self.others: dict[str, Numbers] = {}
        self.files: dict[str, dict | None] = {}
        self.recorded: dict[str, list[Row]] = {}

    # --- What an expression may call.

    def count(self, ref: str, name: str, kernel: str | None = None) -> float:
        owner, rung, variant = self._resolve(ref)
        run = simulated_run(owner.source, owner.build)
        row = owner._one_row(placed(run.rows), rung, variant, None, "the simulator's run")
        counts = owner._kernel_counts(run, row, kernel) if kernel else row.counts
        if not counts:
            raise ExpressionError(f"the simulator counted nothing of {ref} ({row.status})")
        if name not in counts:
            raise ExpressionError(f"no count is named {name}; there are {', '.join(sorted(counts))}")
        return counts[name]

    def ms(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "time_ms").median

    def first(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "first_ms")

    def rate(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "rate")

    def ratio(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "ratio_to_peer")

    def error(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "max_error")

    def clock(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        return self._measured(ref, size, gpu, "clock").sm_mhz

    def power(self, ref: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        watts = self._measured(ref, size, gpu, "clock").power_w
        if watts is None:
            raise NotRecorded(f"{ref} was not timed for a second: it has no power")
        return watts

    def limit(self, name: str, gpu: str = stored.FIRST_GPU) -> float:
        owner, key, _ = self._resolve(name, rung=False)
        limits = owner._file(gpu).get("limits", {})
        key = _LIMITS.get(key, key)
        if key not in limits:
            raise ExpressionError(f"no limit is named {key}; there are copy, fma, {', '.join(sorted(limits))}")
        return limits[key]

    def hw(self, ref: str, name: str, gpu: str = stored.FIRST_GPU) -> float:
        owner, rung, variant = self._resolve(ref)
        launches = [
            launch for launch in owner._file(gpu, "_counts")["launches"] if launch.get("rung", launch["kernel"]) == rung
        ]
        launch = owner._launch_of(launches, rung, variant, ref)
        if name not in launch["counts"]:
            raise ExpressionError(f"no count is named {name}; there are {', '.join(sorted(launch['counts']))}")
        return launch["counts"][name]

    def ncu(self, ref: str, metric: str, size: int | None = None, gpu: str = stored.FIRST_GPU) -> float:
        owner, rung, variant = self._resolve(ref)
        launches = placed_json(owner._file(gpu, "_caches")["launches"])
        row = owner._one_row(launches, rung, variant, owner.extents(size), f"{gpu}_caches.json")
        if metric not in row["metrics"]:
            raise ExpressionError(f"{metric} was not recorded; there are {', '.join(sorted(row['metrics']))}")
        return row["metrics"][metric]

    def alone(self, ref: str, resource: str, size: int | str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        owner, rung, variant = self._resolve(ref)
        name = f"{gpu}_bounds"
        row = owner._one_row(placed_json(owner._file(gpu, "_bounds")["rows"]), rung, variant, None, f"{name}.json")
        if row["size"] != owner.extents(size):
            raise ExpressionError(f"{name}.json has {ref} at {','.join(map(str, row['size']))}")
        if resource not in row["alone_ms"]:
            raise ExpressionError(f"no {resource} is known of {ref}; there are {', '.join(row['alone_ms'])}")
        return row["alone_ms"][resource]

    def sass(self, kernel: str, what: str, where: str = "kernel") -> float:
        from warp.chapter import recorded

        if "sass" not in self.files:
            self.files["sass"] = recorded.load(self.source)
        return recorded.figure(self.files["sass"], kernel, what, where)

    def shapes(self, what: str, where: str | None = None, gpu: str = stored.FIRST_GPU) -> float:
        data = self._file(gpu, "_shapes")
        if where is not None:
            mine = [row for row in data["shapes"] if not row.get("named") and evaluate(where, None, row)]
            return _figure_of_ratios(what, where, [row["cublas_us"] / row["us"] for row in mine])
        if what in data["summary"]:
            return data["summary"][what]
        for row in data["shapes"]:
            if row.get("named") and what == f"{row['m']},{row['n']},{row['k']}":
                return row["cublas_us"] / row["us"]
        raise ExpressionError(f"{what} is no named shape, and not in the summary: {', '.join(sorted(data['summary']))}")

    def orders(self, what: str, gpu: str = stored.FIRST_GPU) -> float:
        known = self._file(gpu, "_orders")["summary"]
        if what not in known:
            raise ExpressionError(f"{what} is not in the summary: {', '.join(sorted(known))}")
        return known[what]

    @property
    def compiled_by(self) -> str:
        """What made the recorded machine code."""
        return "compiled by nvcc {nvcc} for {architecture}".format(**(self.files["sass"] or {}))

    def device(self, gpu: str = stored.FIRST_GPU) -> str:
        """The GPU that the times are of."""
        return self.own.device if self.own else self._file(gpu)["device"]

    # --- How it is found.

    def _resolve(self, ref: str, rung: bool = True) -> tuple[Numbers, str, str | None]:
        """Whose rung, which and which variant of it `ref` means."""
        if not isinstance(ref, str):
            raise ExpressionError(f'{ref!r} is no rung: write "rung" or "rung/variant"')
        owner, name = self, ref
        if ":" in ref:
            number, _, name = ref.partition(":")
            owner = self._other(number)
        name, _, variant = name.partition("/")
        if rung and name not in owner.header.rungs:
            raise ExpressionError(f"chapter {owner.header.number} has no rung {name}")
        return owner, name, variant or None

    def _other(self, number: str) -> Numbers:
        if number not in self.others:
            folders = sorted(self.source.parents[1].glob(f"{number}_*"))
            if len(folders) != 1:
                raise ExpressionError(f"there is no chapter {number}")
            self.others[number] = Numbers(folders[0] / f"{folders[0].name[3:]}.cu", self.build)
        return self.others[number]

    def _file(self, gpu: str, suffix: str = "") -> dict:
        """results/GPU.json, or one of the files beside it."""
        name = f"{gpu}{suffix}.json"
        if name not in self.files:
            path = self.source.parent / "results" / name
            self.files[name] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        found = self.files[name]
        if found is None:
            raise NotRecorded(f"{self.header.folder}/results/{name} does not exist yet")
        return found

    def _rows(self, gpu: str) -> list[Row]:
        """Those of results/GPU.json."""
        if gpu not in self.recorded:
            self.recorded[gpu] = stored.rows_of(self._file(gpu)["rows"], f"{gpu}.json")
        return self.recorded[gpu]

    def extents(self, size: int | str | None) -> list[int]:
        default = [int(part) for part in self.header.sizes["gpu"].split(",")]
        if size is None:
            return default
        if isinstance(size, int):
            return [size] * len(default)
        try:
            extents = [int(part) for part in str(size).split(",")]
        except ValueError:
            extents = []
        if len(extents) != len(default):
            raise ExpressionError(f'{size!r} is no size of this chapter: write 4096 or "{self.header.sizes["gpu"]}"')
        return extents

    def _measured(self, ref: str, size: int | str | None, gpu: str, key: str) -> Any:
        owner, rung, variant = self._resolve(ref)
        extents = owner.extents(size)
        for row in owner.own.rows if owner.own else []:
            same = row.rung == rung and (row.variant or None) == variant and list(row.size.values()) == extents
            if same and getattr(row, key) is not None:
                return getattr(row, key)
        row = owner._one_row(placed(owner._rows(gpu)), rung, variant, extents, f"{gpu}.json")
        if getattr(row, key) is None:
            raise ExpressionError(f"{ref} has no {key} in {gpu}.json ({row.status})")
        return getattr(row, key)

    def _one_row(
        self, rows: list[Placed[Of]], rung: str, variant: str | None, extents: list[int] | None, where: str
    ) -> Of:
        """The one row of a rung and variant at a size. What is not there may come with the next recording."""
        own = [row for row in rows if row.rung == rung]
        variants = list(dict.fromkeys(row.variant for row in own))
        wanted = [row for row in own if row.variant == variant]
        if own and not wanted and variant is None and len(variants) > 1:
            raise ExpressionError(
                f"{rung} has variants: write one of {', '.join(f'{rung}/{one}' for one in variants if one)}"
            )
        if not wanted:
            if self._is_run_here(rung, variant, where):
                raise NotRecorded(f"{rung}{'/' + variant if variant else ''} is not in {where} yet")
            known = ", ".join(f"{rung}/{one}" for one in variants if one)
            raise ExpressionError(f"{where} has no {rung}/{variant}" + (f"; it has {known}" if known else ""))
        if extents is not None:
            at = [row for row in wanted if row.extents == extents]
            if not at:
                size = ",".join(map(str, extents))
                if size in self.header.sizes_measured:
                    raise NotRecorded(f"{rung} at {size} is not in {where} yet")
                sizes = dict.fromkeys(",".join(map(str, row.extents)) for row in wanted)
                raise ExpressionError(f"{where} has {rung} at {' '.join(sizes)}, not at {size}")
            wanted = at
        if len(wanted) > 1:
            raise ExpressionError(f"{where} has {len(wanted)} rows of {rung}{'/' + variant if variant else ''}")
        return wanted[0].row

    def _is_run_here(self, rung: str, variant: str | None, where: str) -> bool:
        """Whether the program has this rung and variant today, so that only the recording lacks it."""
        if where == "the simulator's run":
            return False
        if self.header.rungs[rung].needs:
            return True
        return variant in self._variants(rung)

    def _variants(self, rung: str) -> list[str | None]:
        return [row.variant or None for row in simulated_run(self.source, self.build).rows if row.rung == rung]

    def _launch_of(self, launches: list[dict], rung: str, variant: str | None, ref: str) -> dict:
        """The launch of a variant: named as such, or by its place among the rung's."""
        named = [launch for launch in launches if (launch.get("variant") or None) == variant and "rung" in launch]
        if len(named) == 1:
            return named[0]
        variants = self._variants(rung)
        if not launches:
            raise NotRecorded(f"{ref}: no launch of {rung} was counted on the hardware")
        if len(launches) != len(variants) or variant not in variants:
            raise ExpressionError(
                f"{ref}: {len(launches)} launches of {rung} were counted, the program has {len(variants)} variants"
            )
        return launches[variants.index(variant)]

    def _kernel_counts(self, run: SimulatedRun, row: Row, kernel: str) -> dict[str, int]:
        """The counts of one kernel of a rung that launches several."""
        made = row.launches or Launches(0, 0)
        mine = [counts for name, counts in run.launches[made.first : made.end] if name == kernel]
        if not mine:
            raise ExpressionError(f"{row.rung} launches no kernel {kernel} on the simulator")
        return {name: sum(counts[name] for counts in mine) for name in mine[0]}


def _figure_of_ratios(what: str, where: str, ratios: list[float]) -> float:
    """A figure of the ratios of some shapes."""
    if what == "count":
        return len(ratios)
    if not ratios:
        raise ExpressionError(f"no shape of the map has {where}")
    if what == "geometric mean":
        return math.exp(sum(map(math.log, ratios)) / len(ratios))
    if what == "least":
        return min(ratios)
    words, _, bound = what.rpartition(" ")
    if words == "at least" and bound.replace(".", "", 1).isdecimal():
        return sum(ratio >= float(bound) for ratio in ratios) / len(ratios)
    raise ExpressionError(f'of some shapes there are "count", "geometric mean", "least" and "at least 0.9", not {what}')


FUNCTIONS = (
    *("count", "ms", "first", "rate", "ratio", "error", "clock", "limit", "hw", "ncu", "alone", "sass", "shapes"),
    *("orders", "power"),
)


def evaluate(expression: str, numbers: Numbers | None, names: dict[str, Any] | None = None) -> Any:
    """The value of an expression: a number, a text, or a tuple of them. Without `numbers` only formulas have one.

    `names`: what stands for a value in it."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        raise ExpressionError(f"this is no expression: {expression}") from None

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool):
            return node.value
        if isinstance(node, ast.Name) and names is not None and node.id in names:
            return names[node.id]
        if isinstance(node, ast.Tuple):
            return tuple(value(part) for part in node.elts)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = value(node.left), value(node.right)
            for side in (left, right):
                if isinstance(side, (str, tuple)):
                    raise ExpressionError(f"{side!r} is no number")
            if isinstance(node.op, ast.Pow) and abs(right) > _LARGEST_EXPONENT:
                raise ExpressionError(f"an exponent is at most {_LARGEST_EXPONENT}")
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            sides = [value(node.left), *map(value, node.comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, sides, sides[1:]))
        if isinstance(node, ast.BoolOp):
            parts = [value(part) for part in node.values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        if isinstance(node, ast.IfExp):
            return value(node.body) if value(node.test) else value(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return call(node.func.id, [value(a) for a in node.args], {k.arg: value(k.value) for k in node.keywords})
        what = ast.get_source_segment(expression.strip(), node) or type(node).__name__
        raise ExpressionError(
            f"'{what}' is not allowed here; there are {', '.join((*FUNCTIONS, *_PLAIN))} and arithmetic"
        )

    def call(name: str, arguments: list[Any], keywords: dict[Any, Any]) -> Any:
        if name in _PLAIN and not keywords:
            function = _PLAIN[name]
            if len(arguments) == 1 and isinstance(arguments[0], tuple):
                arguments = list(arguments[0])
        elif name in FUNCTIONS and numbers is not None:
            function = getattr(numbers, name)
        else:
            raise ExpressionError(f"there is no function {name}; there are {', '.join((*FUNCTIONS, *_PLAIN))}")
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            raise ExpressionError(f"{name}: {error}") from None

    try:
        return value(tree.body)
    except ZeroDivisionError:
        raise ExpressionError(f"a division by zero in {expression}") from None
