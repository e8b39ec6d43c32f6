"""The ladder at the top of a chapter's page tells no time that a prediction of the page asks for."""

import dataclasses
import html
import json
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import sample

import labels
from browser import CHROMIUM

from warp.chapter import predictions, results, source
from warp.chapter.expressions import Numbers
from warp.site import asked, chapter_drawings, figures

SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = sample.ROOT / "docs" / "_static" / "predict.js"
# The times of an expression at the chapter's own size, without the rungs of other chapters.
TIME = re.compile(r'\b(?:ms|rate|ratio)\("([^"/:]+)(?:/[^"]*)?"\)')


def rows(svg):
    """{rung: what stands behind its name, and how many bars or cells there are}, as a reader sees it."""
    found, name = {}, None
    for node in ElementTree.fromstring(svg).iter():
        said = [part.text for part in node.iter(f"{SVG}tspan") if part.get("class") == "mono"]
        if node.tag == f"{SVG}text" and said:
            name = said[0]
            found[name] = ["", 0]
        elif name and node.tag == f"{SVG}text":
            found[name][0] += "".join(node.itertext())
        elif name and node.tag == f"{SVG}rect":
            found[name][1] += 1
    return found


def given_away(drawing, questions, relative):
    """The predictions that a drawing answers. It does where it has all times of one; where its times are relative to the
    fastest, as soon as it has one."""
    found = []
    for svg in (drawing.svg, drawing.narrow):
        shown = rows(svg)
        for name, (words, bars) in shown.items():
            if (words.startswith("asked below")) != (bars == 0):
                raise AssertionError(f"{name} is half covered: {words}, {bars} bars")
        told = {name for name, (_, bars) in shown.items() if bars}
        told |= {name for name in shown if re.search(rf" {re.escape(name)} (?!asked below)", drawing.alt)}
        for question in questions:
            names = set(TIME.findall(question.answer)) & set(shown)
            if names and (names & told if relative else names <= told):
                found.append(question.name)
    return sorted(set(found))


class Ladders(unittest.TestCase):
    def test_no_chapter_answers_its_predictions(self):
        covered = answers = 0
        for main in source.find_chapters(sample.ROOT / "chapters"):
            chapter = source.parse_chapter(main, source.other_files(main))
            measured = next(iter(results.load_recorded(main.parent / "results").values()))
            questions = [one.prediction for one in predictions.collect(main) if one.main_track]
            ladder = chapter_drawings.asked_by(chapter)["LADDER"]
            relative = ladder == "times"
            waits = asked.asked(main, questions, not relative)
            top, _ = chapter_drawings.ladder_of(chapter, measured, ladder, waits)
            whole, _ = chapter_drawings.ladder_of(chapter, measured, ladder, {})
            with self.subTest(chapter.folder):
                self.assertEqual(given_away(top, questions, relative), [])
                self.assertEqual(labels.cut(top.svg + top.narrow), [])
                self.assertEqual(rows(whole.svg).keys(), rows(top.svg).keys())
                whole_rows = rows(whole.svg)
                for name, row in top.covered.items():  # what is put back is what the whole one shows
                    self.assertEqual(row["wide"].count("<rect"), whole_rows[name][1], name)
                    for number in re.findall(r">[\d.,]+</t", row["wide"]):
                        self.assertIn(number, whole.svg)
            covered += len(top.covered)
            answers += len(given_away(whole, questions, relative))
        # The check sees what it is there to see: without covers the ladders answer these.
        self.assertGreater(min(covered, answers), 30)

    def test_which_rungs_an_answer_needs(self):
        main = sample.ROOT / "chapters" / "06_transpose" / "transpose.cu"
        numbers = Numbers(main, Path())

        def named(expression):
            return asked.named(expression, numbers)

        self.assertEqual(named('ms("tiled/pad=0") / ms("naive_rows")'), ["naive_rows", "tiled"])  # as in the ladder
        self.assertEqual(named('ms("tiled/pad=0", "16384,16384")'), ["tiled"])
        self.assertEqual(named('ms("tiled/pad=0", 1024) + rate("tiled/pad=0", size=1024)'), [])
        self.assertEqual(named('ms("tiled/pad=0", gpu="h100") + count("copy", "x") + ms("05:padded_a/BK=32")'), [])
        two = source.Prediction(1, "two", "", answer='ms("tiled/pad=0") / ratio("naive_rows")')
        one = source.Prediction(2, "one", "", answer='rate("naive_rows")')
        self.assertEqual(asked.asked(main, [two, one], True), {"tiled": ["two"], "naive_rows": ["one"]})
        self.assertEqual(asked.asked(main, [two], False), {"naive_rows": ["two"], "tiled": ["two"]})

    def test_a_page_has_the_whole_one_on_its_measurements(self):
        main = sample.ROOT / "chapters" / "20_many_gpus" / "many_gpus.cu"
        chapter = source.parse_chapter(main, source.other_files(main))
        measured = results.load_recorded(main.parent / "results")["h200"]
        questions = [one.prediction for one in predictions.collect(main)]
        (top,), (whole,) = chapter_drawings.ladders(chapter, measured, questions)
        self.assertIn("[see all](/more/20_many_gpus/measurements.cu).", top.caption)
        self.assertEqual((whole.name, whole.drawing.covered), ("20_many_gpus-ladder-whole", {}))
        self.assertEqual(chapter_drawings.ladders(chapter, measured, [])[1], [])
        self.assertEqual(top.drawing.covered["peer_store"]["for"], ["store"])

    def test_a_chapter_has_what_its_figures_ask_for(self):
        main = sample.ROOT / "chapters" / "20_many_gpus" / "many_gpus.cu"
        chapter = source.parse_chapter(main, source.other_files(main))
        measured = results.load_recorded(main.parent / "results")["h200"]
        folder = Path(tempfile.mkdtemp(prefix="warp-asked-"))
        self.addCleanup(shutil.rmtree, folder)
        there = dataclasses.replace(chapter, path=folder / main.name)
        self.assertEqual(chapter_drawings.ladders(there, measured, []), ([], []))  # there is no figures.py
        self.assertEqual(chapter_drawings.story([(there, measured)] * 2), [])
        for asks, why in (
            ('LADDER = "times"', "asks for a ladder of times, and its rungs have no variants in common"),
            ('LADDER = "GFLOP/s"', r"asks for a ladder in GFLOP/s, and \d of its rungs have a rate in that"),
        ):
            (folder / "figures.py").write_text(asks)
            with self.assertRaisesRegex(chapter_drawings.BuildError, f"figures.py: {why}"):
                chapter_drawings.ladders(there, dataclasses.replace(measured, rows=measured.rows[:1]), [])
        told, names = [], ["02_naive_gemm", "03_shared_tiling"]
        for name in names:
            main = sample.ROOT / "chapters" / name / f"{name[3:]}.cu"
            recorded = results.load_recorded(main.parent / "results")["h200"]
            told.append((source.parse_chapter(main, source.other_files(main)), recorded))
        self.assertEqual([one[0].folder for one in chapter_drawings.story(told)], names)
        told[1] = told[1][0], dataclasses.replace(told[1][1], device="another")
        with self.assertRaisesRegex(chapter_drawings.BuildError, "ask for stairs, and do other work"):
            chapter_drawings.story(told)


# Answers the first question, opens the answer of the second.
READER = """
document.querySelector("input[type=text]").value = "3";
document.querySelector("form").requestSubmit();
document.querySelector("details").open = true;
setTimeout(() => { document.title = document.title + " read"; }, 50);
"""


@unittest.skipUnless(CHROMIUM, "there is no Chromium: ./learn setup --all brings it")
class Reader(unittest.TestCase):
    def page(self, script):
        """The ladder of a page: what it says of each rung, and its name for those who cannot see it."""
        steps = [
            figures.Step("first", 100.0),
            figures.Step("second", 300.0, gain=3.0, asked=("answered",)),
            figures.Step("third", 330.0, gain=1.1),
            figures.Step("fourth", 400.0, variant="best=1", asked=("opened",)),
            figures.Step("fifth", 500.0, asked=("neither",)),
        ]
        drawing = figures.ladder(steps, "GB/s", None, "T")
        data = html.escape(json.dumps({"near": "exact", "unit": "", "answer": 3, "choices": [], "shown": "3"}))
        questions = "".join(
            f'<div class="prediction" data-name="{name}" data-prediction="{data}"><p>?</p></div>'
            for name in ("answered", "opened", "neither")
        )
        folds = "".join(f'<details class="answer" data-for="{name}"></details>' for name in ("opened", "neither"))
        label = html.escape(drawing.alt)
        ladder = (
            f'<div data-covered="{html.escape(json.dumps(drawing.covered))}">'
            f'<div class="drawing only-wide" aria-label="{label}">{drawing.svg}</div>'
            f'<div class="drawing only-narrow" aria-label="{label}">{drawing.narrow}</div></div>'
        )
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            scripts = "".join(f"<script>{text}</script>" for text in script)
            page.write_text(
                f"<!doctype html><meta charset=utf-8><h1>T</h1>{ladder}{questions}{folds}{scripts}", "utf-8"
            )
            command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
            done = subprocess.run(
                [*command, "--virtual-time-budget=2000", "--dump-dom", page.as_uri()],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=120,
            )
        text = done.stdout.decode("utf-8")
        svgs = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        return [rows(svg) for svg in svgs], re.search(r'aria-label="(.*?)"', text)[1]

    def test_an_answer_uncovers_its_rung(self):
        script = SCRIPT.read_text(encoding="utf-8")
        before, label = self.page([script])
        for shown in before:
            self.assertEqual([words.split("0 GB/s")[0] for words, _ in shown.values()],
                             ["100", "asked below", "330", "asked below", "asked below"])  # fmt: skip
            self.assertEqual([bars for _, bars in shown.values()], [1, 0, 1, 0, 0])
        self.assertEqual(label, "T, in GB/s: first 100 GB/s; second asked below; third 330 GB/s; fourth asked below; "
                                "fifth asked below.")  # fmt: skip
        after, label = self.page([script, READER])
        for shown in after:
            self.assertEqual([bars for _, bars in shown.values()], [1, 1, 1, 1, 0])
            self.assertEqual([words.split("0 GB/s")[0] for words, _ in shown.values()],
                             ["100", "× 3.0 the rung above300", "× 1.1330", "400", "asked below"])  # fmt: skip
        self.assertEqual(label, "T, in GB/s: first 100 GB/s; second 300 GB/s; third 330 GB/s; fourth 400 GB/s; "
                                "fifth asked below.")  # fmt: skip
