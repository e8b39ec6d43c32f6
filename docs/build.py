#!/usr/bin/env python3
"""Builds the site: docs/build.py [--build-dir build] [--out build/docs/html] [--serve]

Runs every chapter's simulator program for its counts, Doxygen for the contracts, writes the chapters'
pages from their sources and hands everything to Sphinx, whose warnings are errors. `./learn docs` makes
the virtual environment (docs/requirements.txt), builds the simulator and calls this.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import http.server
import importlib.util
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))
sys.path.insert(0, str(DOCS.parent / "tools"))

import agreement  # noqa: E402
import chapter_page  # noqa: E402
import doxygen  # noqa: E402
import exercises_page  # noqa: E402
import figures  # noqa: E402
import landing  # noqa: E402
import markup  # noqa: E402
import rung_tables  # noqa: E402

from course import predictions, results, source  # noqa: E402
from course.counted import load_counted  # noqa: E402
from course.exercises import ExerciseError  # noqa: E402
from course.expressions import ExpressionError, NotRecorded, Numbers  # noqa: E402
from course.header import SourceError  # noqa: E402
from course.run import kept_run  # noqa: E402


class BuildError(Exception):
    """What stops the build, in one line, or with a tool's own lines below it."""


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="docs/build.py", description="Builds the site.")
    parser.add_argument("--root", type=Path, default=DOCS.parent, help="the course (default: where this file lies)")
    parser.add_argument(
        "--build-dir", type=Path, help="holds simulator/ with the built chapters (default: $WARP_BUILD_DIR, else build)"
    )
    parser.add_argument("--out", type=Path, help="the site (default: BUILD_DIR/docs/html)")
    parser.add_argument("--serve", action="store_true", help="serve the site at http://127.0.0.1:PORT afterwards")
    parser.add_argument("--port", type=int, default=8000, help="for --serve (default: 8000)")
    options = parser.parse_args(arguments)
    options.root = options.root.resolve()
    options.build_dir = Path(options.build_dir or os.environ.get("WARP_BUILD_DIR") or options.root / "build").resolve()
    options.out = (options.out or options.build_dir / "docs" / "html").resolve()
    if not 1 <= options.port <= 65535:
        parser.error(f"--port {options.port}: legal is 1 to 65535")
    return options


def check_packages() -> None:
    modules = {
        "sphinx": "sphinx",
        "breathe": "breathe",
        "myst_parser": "myst-parser",
        "furo": "furo",
        "sphinx_design": "sphinx-design",
        "sphinx_copybutton": "sphinx-copybutton",
    }
    missing = [package for module, package in modules.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise BuildError(
            f"this Python lacks {', '.join(missing)}: run './learn docs', which makes an environment "
            "with docs/requirements.txt"
        )


def commit_of(root: Path) -> str:
    if os.environ.get("WARP_COMMIT"):
        return os.environ["WARP_COMMIT"]
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def write(path: Path, text: str) -> None:
    """Writes a file unless it says the same already: Sphinx then leaves its page alone."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Stage:
    """The folder that Sphinx reads: the pages of docs/ and those made here."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.kept: set[Path] = set()

    def write(self, name: str, text: str) -> None:
        write(self.folder / name, text)
        self.kept.add(self.folder / name)

    def drawing(self, name: str, drawing: figures.Drawing, caption: str) -> str:
        """Stages a drawing and returns the directive that shows it."""
        self.write(f"_figures/{name}.svg", drawing.svg)
        if drawing.narrow:
            self.write(f"_figures/{name}.narrow.svg", drawing.narrow)
        return markup.fence(
            caption, f"{{svg}} _figures/{name}.svg", [f":alt: {json.dumps(drawing.alt, ensure_ascii=False)}", ""]
        )

    def sweep(self) -> None:
        """Removes what an earlier build left and this one did not write."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_file() and path not in self.kept:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def signatures(chapter: source.Chapter, sources: list[Path], xml: Path) -> dict[str, str]:
    """How Breathe finds the contract of each rung. A rung without a contract is an error."""
    entities = doxygen.entities(xml)
    found = {}
    for name in chapter.header.rungs:
        same = [e for e in entities if e.kind == "function" and e.name.split("::")[-1] == name]
        if name in chapter.functions and len(same) > 1:
            function = chapter.functions[name]
            here = [
                e
                for e in same
                if function.first <= e.line <= function.name_line + 1 and e.file.name == chapter.path.name
            ]
            same = here or same
        if not same and source.has_no_function(chapter.header.rungs[name]):
            continue
        if not same or not same[0].documented:
            where = chapter.functions[name].name_line if name in chapter.functions else 1
            raise SourceError(
                f"{chapter.path}:{where}: rung {name} has no contract: it needs '///' lines right above it"
            )
        overloaded = sum(e.name == same[0].name and e.kind == "function" for e in entities) > 1
        found[name] = same[0].name + (same[0].args if overloaded else "")
    return found


def own_drawings(stage: Stage, chapter, simulated) -> tuple[dict[str, str], dict[str, str]]:
    """What the chapter's figures.py draws: the directives behind each rung, and those that the prose names, by name."""
    path = chapter.path.parent / "figures.py"
    if not path.exists():
        return {}, {}
    module = runpy.run_path(str(path))
    behind: dict[str, str] = {}
    named: dict[str, str] = {}
    for rung, name, drawing, caption in module["draw"](simulated, chapter.path):
        directive = stage.drawing(f"{chapter.folder}-{name}", drawing, caption)
        if rung is None:
            named[name] = directive
        elif rung not in chapter.header.rungs:
            raise BuildError(f"{path}: draws for {rung}, which is no rung of the chapter")
        else:
            behind[rung] = "\n\n".join(filter(None, [behind.get(rung), directive]))
    return behind, named


def place_drawings(page: str, named: dict[str, str], path: Path) -> str:
    """The page with each drawing where its prose has an empty fence ```{drawing} NAME."""
    for name, directive in named.items():
        page, places = re.subn(
            rf"^```\{{drawing\}} {re.escape(name)}\n```$", lambda _, text=directive: text, page, flags=re.MULTILINE
        )
        if places != 1:
            raise BuildError(
                f"{path}: drawing '{name}' has {places} places: write ```{{drawing}} {name} and ``` in the prose"
            )
    return page


def ladder_drawings(stage: Stage, chapter, measured) -> list[str]:
    drawn = []
    sizes = rung_tables.sizes_of(measured.rows)
    shown = next((s for s in sizes if ",".join(map(str, s.values())) == chapter.header.sizes["gpu"]), None)
    # Where a chapter is about arithmetic, its bandwidths are beside the point: they have their tables.
    for unit, limit in (("GFLOP/s", "fp32_gflop_s"), ("GB/s", "copy_gb_s")):
        if drawn:
            break
        bars = []
        for name in chapter.header.rungs:
            for row in measured.of(name):
                if row.get("rate_unit") != unit or not row.get("rate") or (len(sizes) > 1 and row.get("size") != shown):
                    continue
                peer, ratio = row.get("peer"), row.get("ratio_to_peer")
                variant = f" {row['variant']}" if row.get("variant") else ""
                bars.append(
                    {
                        "label": name + variant,
                        "value": row["rate"],
                        "peer": row["rate"] / ratio if peer and ratio else None,
                    }
                )
        if len(bars) < 2:
            continue
        title = f"The ladder of chapter {chapter.header.number} on {measured.device}"
        prefix = f"{chapter.folder}-ladder-{unit.split('/')[0].lower()}"
        drawing = figures.ladder(bars, unit, measured.limits.get(limit), title)
        at = f", {markup.size_words(chapter.header.sizes['gpu'])}" if len(sizes) > 1 else ""
        caption = f"{title}{at}, in {unit}; longer is faster."
        if any(bar["peer"] for bar in bars):
            caption += " The upright mark on a bar is the peer in the same rounds."
        if measured.limits.get(limit):
            caption += " The dashed line is the limit measured on this machine."
        drawn.append(stage.drawing(prefix, drawing, caption))
    return drawn


def best_drawing(stage: Stage, measured: list) -> tuple[str, str]:
    """The fastest rung of each chapter whose rungs are compared with one peer at one size on one device: where there
    are several such chapters, they are one story, told in a sentence as well. `measured` has chapters and their results, if
    there are any."""
    stories: dict[tuple, list] = {}
    for chapter, result in measured:
        size = [int(part) for part in chapter.header.sizes["gpu"].split(",")]
        rows = (
            [
                row
                for row in result.rows
                if row.get("rate_unit") == "GFLOP/s"
                and row.get("peer")
                and list(row["size"].values()) == size
                and row["rung"] != row["peer"]["name"].lower()
            ]
            if result
            else []
        )
        if rows:
            best = max(rows, key=lambda row: row["rate"])
            stories.setdefault((result.device, tuple(size), best["peer"]["name"]), []).append((chapter, result, best))
    for (device, _, peer), chapters in stories.items():
        if len(chapters) < 2:
            continue
        bars = [
            {
                "label": f"{chapter.header.number} {best['rung']}{' ' + best['variant'] if best.get('variant') else ''}",
                "value": best["rate"],
                "peer": best["rate"] / best["ratio_to_peer"],
            }
            for chapter, _, best in chapters
        ]
        last, result, _ = chapters[-1]
        limit = result.limits.get("fp32_gflop_s")
        title = f"The fastest rung of each chapter that has {peer} as its peer, on {device}"
        drawing = figures.ladder(bars, "GFLOP/s", limit, title)
        caption = (
            f"{title}: {markup.size_words(last.header.sizes['gpu'])}, in GFLOP/s; longer is faster. The upright "
            f"mark on a bar is {peer} in the same rounds."
        )
        if limit:
            caption += " The dashed line is the limit measured on this machine."
        said = landing.evidence([(chapter, best) for chapter, _, best in chapters], device, peer)
        return stage.drawing("best", drawing, caption), said
    return "", ""


def roofline_drawing(stage: Stage, chapter, simulated, measured, caches: dict[tuple[str, str], float]) -> list[str]:
    """Rate over intensity of every rung that is bound by arithmetic: the rate as measured, the bytes as counted.

    `caches` has the bandwidths that an earlier chapter has measured: (device, "L2 cache") -> GB/s.
    """
    peak, copy = measured.limits.get("fp32_gflop_s"), measured.limits.get("copy_gb_s")
    if not peak or not copy:
        return []
    size = [int(part) for part in chapter.header.sizes["gpu"].split(",")]
    points = []
    for name in chapter.header.rungs:
        for row in measured.of(name):
            if row.get("rate_unit") != "GFLOP/s" or not row.get("rate") or list(row["size"].values()) != size:
                continue
            counted = next(
                (r for r in simulated.of(name) if r.get("variant") == row.get("variant") and r.get("counts")), None
            )
            moved = results.product_bytes(counted, row["size"]) if counted else 0
            if not moved:
                continue
            flops = 2 * math.prod(size)
            variant = f" {row['variant']}" if row.get("variant") else ""
            points.append(figures.Point(name + variant, flops / moved, row["rate"]))
    if len(points) < 2:
        return []
    roofs = [("memory", copy)]
    roofs += [
        (name, caches[measured.device, name]) for name in ("L2 cache", "L1 cache") if (measured.device, name) in caches
    ]
    title = f"The roofline of chapter {chapter.header.number} on {measured.device}"
    drawing = figures.roofline(points, peak, roofs, title)
    caption = (
        f"{title}, {markup.size_words(chapter.header.sizes['gpu'])}. Along: operations for each byte that "
        "moves between an SM and the memory system, in whole sectors, from the simulator's counts. Up: the "
        "measured rate. The lines are measured, too: a level of memory bounds the slope, the FMA loop the top. "
        "A point above a slope has its bytes from a level nearer by."
    )
    return [stage.drawing(f"{chapter.folder}-roofline", drawing, caption)]


def answers_of(main: Path, build: Path) -> dict[str, predictions.Answer]:
    """What the runs answer to a chapter's predictions; those that nobody has measured yet are left out."""
    numbers, found = Numbers(main, build), {}
    for one in predictions.collect(main):
        try:
            found[one.name] = predictions.answer(one.prediction, numbers)
        except NotRecorded:
            continue
        except ExpressionError as error:
            raise SourceError(f"{one.file}:{one.prediction.line}: prediction {one.name}: {error}") from None
    return found


def stage_chapters(options, stage: Stage, work: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Writes the chapters' pages; returns Breathe's projects, and what the landing page shows of the chapters."""
    mains = source.find_chapters(options.root / "chapters")
    projects, chapters = {}, []
    titles = {}
    for main in mains:
        others = source.other_files(main)
        chapter = source.parse_chapter(main, others)
        for name in chapter.header.builds_on:
            if name not in titles:
                raise SourceError(f"{main}:1: builds on {name}, which is no earlier chapter")
        titles[chapter.folder] = f"{chapter.header.number} {chapter.header.title}"
        chapters.append((chapter, others))

    caches: dict[tuple[str, str], float] = {}
    recorded = []
    for chapter, others in chapters:
        name = chapter.path.stem
        program = options.build_dir / "simulator" / "chapters" / chapter.folder / name
        simulated = kept_run(chapter.path, program, work / "runs" / chapter.folder, commit_of(options.root))
        results.without_root(simulated, options.root)
        gpus = list(results.load_recorded(chapter.path.parent / "results").values())
        measured = gpus[0] if gpus else None
        project = f"chapter_{chapter.header.number}"
        projects[project] = doxygen.run(
            DOCS / "Doxyfile", work / "doxygen" / project, [chapter.path, *others], defines=["__SIMT__"]
        )
        known = signatures(chapter, [chapter.path, *others], projects[project])
        counted = load_counted(chapter.path.parent / "results")
        recorded.append((chapter, measured))
        drawings = []
        if measured:
            caches.update(
                {
                    (measured.device, row.get("variant")): row["rate"]
                    for row in measured.of("memory_bandwidth")
                    if row.get("rate")
                }
            )
            drawings = ladder_drawings(stage, chapter, measured)
            drawings += roofline_drawing(stage, chapter, simulated, measured, caches)
        behind, named = own_drawings(stage, chapter, simulated)
        for file in (chapter.path, *others):  # what the page offers for download
            stage.write(f"_files/{chapter.folder}/{file.name}", file.read_text(encoding="utf-8"))
        notes_file, notes = chapter.path.parent / "results" / "NOTES.md", ""
        if measured and notes_file.exists():
            notes = f"notes/{chapter.folder}.md"
            stage.write(notes, chapter_page.notes_page(notes_file.read_text(encoding="utf-8")))
        page = chapter_page.chapter_page(
            chapter,
            project=project,
            signatures=known,
            titles=titles,
            simulated=simulated,
            measured=measured,
            elsewhere=gpus[1:],
            others=others,
            figures=drawings,
            counted=counted,
            answers=answers_of(chapter.path, options.build_dir / "simulator"),
            rung_figures=behind,
            notes=notes,
        )
        page += exercises_page.stage(stage.write, options.root, chapter.folder)
        stage.write(f"chapters/{chapter.folder}.md", place_drawings(page, named, chapter.path))
        stage.write(f"_data/{chapter.folder}.txt", simulated.output)
        stage.write(f"_data/{chapter.folder}.trace.json", json.dumps(simulated.trace))

    graph = figures.chapter_graph(
        [(c.folder, c.header.number, c.header.title, c.header.builds_on) for c, _ in chapters]
    )
    best, evidence = best_drawing(stage, recorded)
    known = [c for c, _ in chapters]
    drawn = "\n\n".join(filter(None, [stage.drawing("chapters", graph, ""), best]))
    stage.write("chapters/index.md", chapter_page.map_page(known, drawn))
    archive = stage.folder / "_files" / f"{landing.ARCHIVE}.tar.gz"
    stage.kept.add(archive)
    commit = commit_of(options.root)
    packed = stage.folder.parent / "packed"  # the commit that the archive is of
    if not (archive.exists() and packed.exists() and packed.read_text() == commit):
        write(packed, commit if landing.pack(options.root, archive) else "")
    download = f"_files/{archive.name}" if archive.exists() else ""
    return projects, {
        "start": landing.start(known[0], download, os.environ.get("WARP_SOURCE_URL", "")),
        "best": best,
        "evidence": evidence,
        "chapters": landing.chapters(known),
        "version": landing.version(commit, time.strftime("%Y-%m-%d")),
    }


def public_headers(root: Path) -> dict[str, list[Path]]:
    lab = sorted((root / "common" / "lab" / "include" / "lab").glob("*.h"))
    simt = root / "common" / "simt" / "include" / "simt"
    return {"lab": lab, "simt": [simt / name for name in ("simt.h", "counts.h", "counting.h")]}


def generator_digest() -> str:
    """Changes with the code that makes the pages."""
    digest = hashlib.sha256()
    tools = DOCS.parent / "tools"
    for path in sorted(
        [
            *DOCS.rglob("_ext/**/*.py"),
            *DOCS.glob("_templates/*"),
            DOCS / "conf.py",
            DOCS / "build.py",
            *tools.rglob("*.py"),
        ]
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(options) -> None:
    check_packages()
    work = options.build_dir / "docs"
    stage = Stage(work / "source")

    print("docs: chapters: programs, contracts, pages", flush=True)
    projects, made = stage_chapters(options, stage, work)
    print("docs: contracts of lab and simt", flush=True)
    for project, headers in public_headers(options.root).items():
        if not headers:
            raise BuildError(f"{options.root}/common/{project}: no public header")
        projects[project] = doxygen.run(DOCS / "Doxyfile", work / "doxygen" / project, headers, defines=["__SIMT__"])
        if not any(entity.documented for entity in doxygen.entities(projects[project])):
            raise BuildError(f"Doxygen extracted nothing from the headers of {project}")

    pages = options.root / "docs"
    for path in sorted(pages.rglob("*")):
        relative = path.relative_to(pages)
        if path.is_file() and path.suffix == ".md" and relative.parts[0] not in ("_ext", "_static", "_templates"):
            text = path.read_text(encoding="utf-8")
            stage.write(str(relative), landing.placed(text, made) if relative.name == "index.md" else text)
    if (options.root / "tests" / "agreement").exists():
        print("docs: the simulator's counts beside the hardware's", flush=True)
        try:
            stage.write(
                "agreement.md", agreement.page(options.root, options.build_dir / "simulator" / "tests", work / "runs")
            )
        except (OSError, ValueError) as error:
            raise BuildError(f"the page of agreement: {error}")
    stage.sweep()

    print("docs: Sphinx", flush=True)
    # Pages that did not change stay as they are, unless what makes them has changed.
    stamp, generator = work / "generator", generator_digest()
    same = stamp.exists() and stamp.read_text() == generator and (options.out / "index.html").exists()
    anew = [] if same else ["-E", "-a"]
    from sphinx.cmd.build import main as sphinx_main

    options.out.mkdir(parents=True, exist_ok=True)
    arguments = [
        "-b",
        "html",
        "-c",
        str(DOCS),
        "-d",
        str(work / "doctrees"),
        *anew,
        "-W",
        "--keep-going",
        "-n",
        "-q",
        "--color" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else "--no-color",
    ]
    arguments += ["-D", f"warp_root={options.root}"]
    for name, xml in projects.items():
        arguments += ["-D", f"breathe_projects.{name}={xml}"]
    status = sphinx_main([*arguments, str(stage.folder), str(options.out)])
    if status != 0:
        raise BuildError("Sphinx found something wrong; its lines above say what and where")
    write(stamp, generator)
    shutil.rmtree(options.out / "_sources", ignore_errors=True)


def serve(folder: Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise BuildError(f"port {port} cannot be served: {error.strerror}; choose another with --port") from None
    print(f"docs: http://127.0.0.1:{port}/ (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    started = time.monotonic()
    try:
        build(options)
        print(f"docs: {options.out / 'index.html'} ({time.monotonic() - started:.0f} s)", flush=True)
        if options.serve:
            serve(options.out, options.port)
    except (BuildError, SourceError, ExerciseError, doxygen.DoxygenError, results.ResultsError) as error:
        print(f"docs: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
