"""The real site: built with warnings as errors, then read page by page and looked at in a browser."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

import sample

from course import source

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PYTHON = sample.site_python()
SIMULATOR = os.environ.get("WARP_SIMULATOR_BUILD")
CHAPTERS = sample.ROOT / "chapters"
SITE = None  # set by setUpModule
REPORTS = {}
PATIENCE = 120_000  # ms


def setUpModule():
    global SITE
    if not PYTHON:
        raise unittest.SkipTest("the site's Python environment is not there: ./learn setup --docs makes it")
    if not shutil.which("doxygen"):
        raise unittest.SkipTest("doxygen is not installed")
    if not SIMULATOR:
        raise unittest.SkipTest("WARP_SIMULATOR_BUILD does not name a build of the simulator preset")
    folder = Path(tempfile.mkdtemp(prefix="warp-site-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    (folder / "simulator").symlink_to(SIMULATOR)
    done = subprocess.run(
        [PYTHON, str(sample.ROOT / "docs" / "build.py"), "--build-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=sample.ROOT,
        timeout=800,
    )
    if done.returncode != 0 or done.stderr:
        raise AssertionError("the site does not build:\n" + done.stdout + done.stderr)
    SITE = folder / "docs" / "html"
    for main in source.find_chapters(CHAPTERS):
        REPORTS[main.parent.name] = json.loads(
            (folder / "docs" / "runs" / main.parent.name / "results.json").read_text()
        )


def bare(text: str) -> str:
    """A text without what Markdown and typography change in it."""
    return re.sub(
        r"[\s’‘“”\"'`*_|\\#^]", "", unicodedata.normalize("NFKC", text.replace("×", "x"))
    )  # 2³² is 232, … is ...


def lost_lines(prose: str, shown: str) -> list[str]:
    """The lines of prose, or the cells where one is a row of a table, that a page does not show."""
    here, lost = bare(shown), []
    prose = re.sub(r"\{\w+\}`([^`<]*?)(?:\s<[^`>]*>)?`", r"\1", prose)  # a role shows its text
    for line in prose.split("\n"):
        if line.startswith("```"):
            continue
        text = re.sub(r"^\s*(\d+\.|-)\s", "", line)
        for part in text.split("|") if text.startswith("|") else [text]:
            if not re.fullmatch(r"[:\s-]*", part) and bare(part) not in here:
                lost.append(line)
                break
    return lost


class Page(html.parser.HTMLParser):
    """Links, anchors, assets, images and listings of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.path, self.ids, self.links, self.assets, self.faults = path, set(), [], [], []
        self.text, self.listings, self._pre, self._number = [], [], None, False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a:
            if a["id"] in self.ids:
                self.faults.append(f"the id {a['id']} stands twice")
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
        # The logo stands beside the course's name, so its own words may be short; all others need them.
        if tag == "img" and not a.get("alt", "").strip():
            self.faults.append(f"the image {a.get('src')} has no alt text")
        if a.get("role") == "img" and not (a.get("aria-label") or "").strip():
            self.faults.append("a drawing has no aria-label")
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


def pages():
    return [Page(path) for path in sorted(SITE.rglob("*.html"))]


class Content(unittest.TestCase):
    def test_what_there_is(self):
        for name in (
            "index",
            "install",
            "chapters/index",
            "simulator",
            "debugging",
            "reference/lab",
            "reference/simt",
            "glossary",
            "licence",
            *(f"chapters/{folder}" for folder in REPORTS),
        ):
            self.assertTrue((SITE / f"{name}.html").exists(), name)

    def test_every_link_leads_somewhere(self):
        known = {page.path.resolve(): page for page in pages()}
        for page in known.values():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme in ("http", "https", "mailto"):
                    continue
                target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
                with self.subTest(page=page.path.name, link=link):
                    self.assertTrue(target.is_file(), "no such file")
                    if parts.fragment and target in known:
                        self.assertIn(unquote(parts.fragment), known[target].ids | {""}, "no such anchor")

    def test_nothing_comes_from_the_network(self):
        for page in pages():
            for asset in page.assets:
                with self.subTest(page=page.path.name, asset=asset):
                    parts = urlsplit(asset)
                    self.assertIn(parts.scheme, ("", "data"))
                    self.assertEqual(parts.netloc, "")
                    if not parts.scheme:
                        self.assertTrue((page.path.parent / unquote(parts.path)).is_file())
        for style in SITE.rglob("*.css"):
            for address in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", style.read_text()):
                self.assertNotRegex("".join(address), r"^(https?:)?//", style.name)

    def test_every_line_of_prose_is_shown(self):
        self.assertEqual(
            lost_lines("a warp spends 62\n% of *its* time\n- 128 x 96", "a warp spends 62 128 × 96"),
            ["% of *its* time"],
        )
        for main in source.find_chapters(CHAPTERS):
            shown = "".join(Page(SITE / "chapters" / f"{main.parent.name}.html").text)
            for file, blocks in source.all_blocks(main):
                for block in source.every_block(blocks):
                    if isinstance(block, source.Prose):
                        text = block.text.replace(source.SECOND_READING, "", 1) if block.second_reading else block.text
                        self.assertEqual(lost_lines(text, shown), [], f"{file.name}:{block.line}")

    def test_the_first_program_is_shown_whole(self):
        shown = bare("".join(Page(SITE / "chapters" / "01_thread_indexing.html").text))
        text = (CHAPTERS / "01_thread_indexing" / "first" / "first.cu").read_text()
        self.assertEqual([line for line in text.splitlines() if bare(line) not in shown], [])

    def test_what_a_kernel_requires_is_a_paragraph(self):
        for path in sorted((SITE / "chapters").glob("0[2-5]_*.html")):
            text = path.read_text()
            self.assertIn("<p>Requires: nothing", text, path.name)
            self.assertNotRegex(
                re.sub(r"<div class=\"highlight.*?</div>", "", text, flags=re.DOTALL),
                r"[.;] (Requires|Source of the idea|Idea): ",
                path.name,
            )

    def test_the_map_has_the_fastest_rung_of_each_chapter(self):
        text = (SITE / "chapters" / "index.html").read_text()
        words = html.unescape(
            re.search(r'aria-label="(The fastest rung of each chapter that has cuBLAS[^"]*)"', text)[1]
        )
        fastest = {}
        for file in sorted(CHAPTERS.glob("0[2-5]_*/results/h200.json")):
            rows = [
                row
                for row in json.loads(file.read_text())["rows"]
                if row.get("peer") and row["rung"] != "cublas" and set(row["size"].values()) == {4096}
            ]
            best = max(rows, key=lambda row: row["rate"])
            fastest[file.parents[1].name[:2]] = f"{best['rung']} {best.get('variant', '')}".strip(), best["rate"]
        self.assertEqual(len(fastest), 4)
        for number, (rung, rate) in fastest.items():
            self.assertIn(f"{number} {rung} {rate:,.0f} GFLOP/s (peer ", words)

    def test_images_have_words_and_ids_are_unique(self):
        for page in pages():
            self.assertEqual(page.faults, [], page.path.name)

    def test_chapters_say_what_their_sources_say(self):
        for main in source.find_chapters(CHAPTERS):
            folder = main.parent.name
            page = Page(SITE / "chapters" / f"{folder}.html")
            lines = main.read_text().split("\n")
            chapter = source.parse_chapter(main, source.other_files(main))
            for name in chapter.header.rungs:
                self.assertIn(name, page.ids, "the anchor of a rung")
            # Every numbered line of a listing is that line of a file of the chapter, or of an exercise of it.
            files = [*main.parent.rglob("*.cu"), *(sample.ROOT / "exercises" / folder).glob("*.cu")]
            sources = [path.read_text().split("\n") for path in files]
            numbered = 0
            for listing in page.listings:
                for row in listing.split("\n"):
                    found = re.match(r"(\d+)\t(.*)$", row)
                    if not found:
                        continue
                    numbered += 1
                    number, text = int(found.group(1)), found.group(2).rstrip()
                    self.assertTrue(
                        any(number <= len(s) and s[number - 1].rstrip() == text for s in sources),
                        f"{folder}: line {number}: {text!r}",
                    )
            code = [line for line in lines if line.strip() and not line.startswith("//")]
            self.assertGreater(numbered, 0.9 * len(code))
            words = " ".join("".join(page.text).split())
            for row in REPORTS[folder]["rows"]:
                for count in ("global_load_sectors", "global_store_sectors", "shared_load_wavefronts"):
                    value = row.get("counts", {}).get(count, 0)
                    if value:
                        self.assertIn(f"{value:,}", words, f"{row['rung']}: {count}")

    def test_the_reference_has_every_public_header(self):
        lab = "".join(Page(SITE / "reference" / "lab.html").text)
        for header in (sample.ROOT / "common" / "lab" / "include" / "lab").glob("*.h"):
            if header.name != "lab.h":
                self.assertIn(f'#include "lab/{header.name}"', lab)
        for name in ("CUDA_CHECK", "DeviceBuffer", "check_canaries", "random_floats", "tolerance_for_sum", "Chapter"):
            self.assertIn(name, lab)
        simt = "".join(Page(SITE / "reference" / "simt.html").text)
        for name in ("take_findings", "global_load_sectors", "count_wavefronts", "for_each_count"):
            self.assertIn(name, simt)

    def test_the_simulators_page_agrees_with_the_simulator(self):
        text = "".join(Page(SITE / "simulator.html").text)
        counts = (sample.ROOT / "common" / "simt" / "include" / "simt" / "counts.h").read_text()
        names = re.findall(r"uint64_t (\w+) = 0;", counts)
        self.assertGreater(len(names), 20)
        for name in names:
            self.assertIn(name, text)
        kinds = set()
        for file in (sample.ROOT / "common" / "simt" / "src").glob("*.cpp"):
            for statement in re.findall(r"\bkind = [^;]*\"[^;]*;", file.read_text()):
                kinds.update(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', statement))
        self.assertIn("out-of-bounds", kinds)
        page = (SITE / "simulator.html").read_text()
        unexplained = {kind for kind in kinds if f">{kind}</span>" not in page}
        self.assertEqual(set(), unexplained, "kinds of findings that the page does not explain")

    def test_it_is_light(self):
        for path in SITE.rglob("*.html"):
            self.assertLess(path.stat().st_size, 1 << 20, path.name)
        self.assertFalse((SITE / "_sources").exists())


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
@unittest.skipUnless(sync_playwright, "this Python has no playwright: ./learn setup --docs brings it")
class Looks(unittest.TestCase):
    """Every page from file://, wide and narrow, light and dark."""

    @classmethod
    def setUpClass(cls):
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        cls.addClassCleanup(cls.browser.close)

    def page(self, width: int, height: int = 1000, dark: bool = False):
        """An empty page; `errors` and `requests` gather what the pages opened in it throw and ask for."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.addCleanup(context.close)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        self.errors, self.requests = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def test_pages(self):
        for width, height, dark in ((1400, 1000, False), (390, 844, True), (768, 1000, False), (1040, 900, True)):
            page = self.page(width, height, dark)
            for path in sorted(SITE.rglob("*.html")):
                with self.subTest(page=path.name, width=width, dark=dark):
                    self.errors.clear()
                    self.requests.clear()
                    page.goto(path.as_uri())
                    self.assertLessEqual(
                        page.evaluate("document.documentElement.scrollWidth"),
                        width,
                        "the page is wider than the screen",
                    )
                    self.assertIn(path.as_uri(), self.requests)
                    self.assertEqual([u for u in self.requests if not u.startswith(("file:", "data:"))], [])
                    self.assertEqual(self.errors, [])
                    self.assertGreater(page.evaluate(CONTRAST), 7, "text on its background")

    def test_a_narrow_screen_gets_the_narrow_drawing(self):
        drawn = next(path for path in sorted(SITE.rglob("*.html")) if "only-narrow" in path.read_text())
        for width, shown, hidden in ((1400, "only-wide", "only-narrow"), (390, "only-narrow", "only-wide")):
            page = self.page(width)
            page.goto(drawn.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            self.assertTrue(page.locator(f".{shown}").first.is_visible())
            self.assertFalse(page.locator(f".{hidden}").first.is_visible())

    def test_search_finds_a_word(self):
        page = self.page(1400)
        page.goto((SITE / "search.html").as_uri() + "?q=sector")
        page.locator("#search-results li").first.wait_for()


CONTRAST = """(() => {
  const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => { x /= 255;
    return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]; };
  const text = document.querySelector('article p') || document.body;
  const a = light(getComputedStyle(text).color), b = light(getComputedStyle(document.body).backgroundColor);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})()"""


if __name__ == "__main__":
    unittest.main()
