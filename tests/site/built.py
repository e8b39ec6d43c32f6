"""The real site, built once for a run, and its pages as its tests read them."""

import functools
import html.parser
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import sample

import suites
from suites import SIMULATOR

from warp.chapter import source

PYTHON = suites.site_python()
CHAPTERS = sample.ROOT / "chapters"
SITE = None  # set by make()
REPORTS = {}


def make():
    """Builds the site of this checkout, or takes the one that WARP_SITE names, as build/docs/html."""
    global SITE
    if os.environ.get("WARP_SITE"):
        SITE = Path(os.environ["WARP_SITE"]).resolve()
        read_reports()
        return
    if not PYTHON:
        raise unittest.SkipTest("the site's Python environment is not there: ./learn setup --docs makes it")
    if not shutil.which("doxygen"):
        raise unittest.SkipTest("doxygen is not installed")
    if not (SIMULATOR / "build.ninja").exists() and not (SIMULATOR / "Makefile").exists():
        raise unittest.SkipTest("the simulator is not built: ./learn test NAME builds it")
    folder = Path(tempfile.mkdtemp(prefix="warp-site-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    (folder / "simulator").symlink_to(SIMULATOR)
    done = subprocess.run(
        [PYTHON, str(sample.ROOT / "tools" / "warp" / "site" / "build.py"), "--build-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=sample.ROOT,
        timeout=800,
    )
    if done.returncode != 0 or done.stderr:
        raise AssertionError("the site does not build:\n" + done.stdout + done.stderr)
    SITE = folder / "docs" / "html"
    read_reports()


def run_of(folder: str) -> Path:
    """Where the run of a chapter's program is kept that the site was built from."""
    return SITE.parents[1] / "simulator" / "course" / folder


def read_reports() -> None:
    """What each chapter's program counted when the site was built."""
    for main in source.find_chapters(CHAPTERS):
        REPORTS[main.parent.name] = json.loads((run_of(main.parent.name) / "results.json").read_text())


class Page(html.parser.HTMLParser):
    """Links, anchors, assets and listings of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.path, self.ids, self.links, self.assets = path, set(), [], []
        self.text, self.listings, self._pre, self._number = [], [], None, False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a:
            self.ids.add(a["id"])
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag in ("script", "img", "iframe", "source", "video", "audio", "embed") and a.get("src"):
            self.assets.append(a["src"])
        if tag == "link" and a.get("rel") in (
            "stylesheet",
            "icon",
            "preload",
            "shortcut icon",
            "manifest",
            "preconnect",
        ):
            self.assets.append(a["href"])
        if tag == "pre":
            self._pre = ""
        self._number = tag == "span" and a.get("class") == "linenos"

    def handle_endtag(self, tag):
        if tag == "pre" and self._pre is not None:
            self.listings.append(self._pre)
            self._pre = None

    def handle_data(self, data):
        self.text.append(data)
        if self._pre is not None:
            self._pre += data.strip() + "\t" if self._number else data
            self._number = False


@functools.cache
def pages():
    """All pages of the site, read once."""
    return [Page(path) for path in sorted(SITE.rglob("*.html"))]


def pages_of(folder: str) -> list[Page]:
    """The page of a chapter, and those beside it."""
    return [
        Page(path) for path in (SITE / "chapters" / f"{folder}.html", *sorted((SITE / "more" / folder).glob("*.html")))
    ]
