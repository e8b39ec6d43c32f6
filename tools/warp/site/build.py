#!/usr/bin/env python3
"""Builds the site: tools/warp/site/build.py [--build-dir build]

Runs every chapter's simulator program for its counts, Doxygen for the contracts, writes the chapters'
pages from their sources and hands everything to Sphinx, whose warnings are errors. `./learn docs` makes
the virtual environment (docs/requirements.txt), builds the simulator and calls this.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
sys.path[0] = str(ROOT / "tools")  # for the folder of this file, whose names are none of the path's

from warp.base.build import commit
from warp.base.errors import LearnError
from warp.site import agreement, doxygen, figures, gpu_table, landing, simulator_settings
from warp.site.blocks import Block, Figure
from warp.site.chapter_stage import Chapters
from warp.site.stage import BuildError, Stage, write

# Below the drawing of docs/inside.md.
WAY = "An access on its way: the folder, what happens there, and the functions that do it."


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="build.py", description="Builds the site.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the course (default: where this file lies)")
    parser.add_argument(
        "--build-dir", type=Path, help="holds simulator/ with the built chapters (default: $WARP_BUILD_DIR, else build)"
    )
    parser.add_argument(
        "--only", default="", metavar="CHAPTER", help="a folder of chapters/: its pages alone, in BUILD_DIR/docs/alone"
    )
    options = parser.parse_args(arguments)
    options.root = options.root.resolve()
    options.build_dir = Path(options.build_dir or os.environ.get("WARP_BUILD_DIR") or options.root / "build").resolve()
    return options


def public_headers(root: Path) -> dict[str, list[Path]]:
    lab = sorted((root / "common" / "lab" / "include" / "lab").glob("*.h"))
    simt = root / "common" / "simt" / "include" / "simt"
    return {"lab": lab, "simt": [simt / name for name in ("simt.h", "counts.h", "counting.h")]}


def generator_digest() -> str:
    """Changes with the code that makes the pages."""
    digest = hashlib.sha256()
    for path in sorted([*DOCS.glob("_templates/*"), DOCS / "conf.py", *(ROOT / "tools").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(options: argparse.Namespace) -> Path:
    """Builds the site; where it begins."""
    import sphinx.cmd.build  # what is missing says so before anything runs

    from warp.site import source_parser

    work = options.build_dir / "docs" / ("alone" if options.only else "")
    out = work / "html"
    stage = Stage(work / "source")

    print("docs: chapters: programs, contracts, pages", flush=True)
    generator = generator_digest()
    chapters = Chapters(
        stage, options.root, options.build_dir / "simulator", work, os.environ.get("WARP_COMMIT") or commit(), generator
    )
    made, projects = chapters.write_all(options.only), chapters.projects
    if options.only:  # links to other chapters lead nowhere, so that what Sphinx says of links is no error
        stage.write("glossary.md", (DOCS / "glossary.md").read_text(encoding="utf-8"))
        stage.write("index.md", f"# One chapter\n\n```{{toctree}}\nchapters/{options.only}\nglossary\n```\n")
    else:
        write_others(options, stage, made, projects, work)
    stage.sweep()

    print("docs: Sphinx", flush=True)
    # Pages that did not change stay as they are, unless what makes them has changed.
    stamp = work / "generator"
    same = stamp.exists() and stamp.read_text() == generator and (out / "index.html").exists()
    anew = [] if same else ["-E", "-a"]
    source_parser.PAGES.update(stage.pages)
    source_parser.MADE.update(made)

    out.mkdir(parents=True, exist_ok=True)
    said = "--color" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else "--no-color"
    strict = [] if options.only else ["-W", "--keep-going", "-n"]
    settings = {"warp_root": options.root, **{f"breathe_projects.{name}": xml for name, xml in projects.items()}}
    places = ["-c", str(DOCS), "-d", str(work / "doctrees"), str(stage.folder), str(out)]
    defined = [word for name, value in settings.items() for word in ("-D", f"{name}={value}")]
    # A process gives back all that it knows, which costs more than a few pages do.
    several = min(4, os.cpu_count() or 1) if anew else 1
    processes = ["-q", "-j", str(several), said]
    status = sphinx.cmd.build.main(["-b", "html", *anew, *strict, *processes, *defined, *places])
    if status != 0:
        raise BuildError("Sphinx found something wrong; its lines above say what and where")
    write(stamp, generator)
    shutil.rmtree(out / "_sources", ignore_errors=True)
    landing.pack_site(out, work / "released.tar.gz", bool(anew))
    return out / "index.html"


def write_others(
    options: argparse.Namespace, stage: Stage, made: dict[str, list[Block]], projects: dict[str, Path], work: Path
) -> None:
    """The pages that are no chapter's."""
    made["way"] = [Figure("way_of_an_access", figures.way_of_an_access(), WAY)]
    made["settings"] = simulator_settings.table()
    made["gpus"] = gpu_table.table()
    print("docs: contracts of lab and simt", flush=True)
    for project, headers in public_headers(options.root).items():
        if not headers:
            raise BuildError(f"{options.root}/common/{project}: no public header")
        projects[project] = doxygen.run(DOCS / "Doxyfile", work / "doxygen" / project, headers)
        if not any(entity.documented for entity in doxygen.entities(projects[project])):
            raise BuildError(f"Doxygen extracted nothing from the headers of {project}")
    made["counts"] = simulator_settings.counts(projects["simt"])

    pages = options.root / "docs"
    for path in sorted(pages.rglob("*")):
        relative = path.relative_to(pages)
        if path.is_file() and path.suffix == ".md" and relative.parts[0] not in ("_static", "_templates"):
            stage.write(str(relative), path.read_text(encoding="utf-8"))
    if (options.root / "tests" / "simulator" / "agreement").exists():
        print("docs: the simulator's counts beside the hardware's", flush=True)
        programs = options.build_dir / "simulator" / "tests" / "simulator"
        try:
            stage.write("agreement.md", agreement.page(options.root, programs, work / "runs"))
        except (OSError, ValueError) as error:
            raise BuildError(f"the page of agreement: {error}")


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    gc.set_threshold(200_000, 20, 20)  # the doctrees are large, and little of them is garbage: a tenth of the time
    started = time.monotonic()
    try:
        index = build(options)
        print(f"docs: {index} ({time.monotonic() - started:.0f} s)", flush=True)
    except LearnError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as missing:
        print(f"docs: this Python lacks {missing.name}: './learn docs' makes one that has it", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
