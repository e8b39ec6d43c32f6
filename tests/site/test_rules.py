"""The live figure's WebAssembly: it is what the simulator's sources give, and it answers what the simulator does."""

import base64
import html
import importlib.util
import json
import random
import re
import shutil
import subprocess
import tempfile
import types
import unittest
from pathlib import Path

import sample

import browser

from warp.chapter.source import Code
from warp.exercise.exercises import all_exercises
from warp.site import live  # sample puts it on the path
from warp.site.blocks import Ask, Card, Fold, Listing, Live, Page, Text

RULES = sample.ROOT / "tools" / "warp" / "site"
STATIC = sample.ROOT / "docs" / "_static"
COUNT = 100_000
SIMT = sample.ROOT / "common" / "simt"

# The loop of rules_answers.cpp.
ASK = """(count) => {
  let state = 1;
  const next = () => {
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return state >>> 0;
  };
  const answers = [];
  for (let i = 0; i < count; i++) {
    const size = 1 << next() % 5;
    const active = next() % 4 ? 0xffffffff : next();
    const kind = next() % 4, step = next() % 70, range = 1 + next() % 512;
    const addresses = [];
    for (let lane = 0; lane < 32; lane++) {
      const element = kind === 0 ? lane * step : kind === 1 ? next() % range
        : kind === 2 ? (lane ^ 1) * step + lane % 3 : Math.floor(lane / 2) * step;
      addresses.push((active >>> lane) & 1 ? element * size : null);
    }
    const store = next() % 2 === 1;
    const { wavefronts, phases, ideal, phaseLanes } = warpRules.shared(addresses, size, store);
    answers.push([wavefronts, phases, ideal, phaseLanes, warpRules.sectors(addresses, size)].join(" "));
  }
  return answers;
}"""


def maker():
    """tools/warp/site/rules.py, as a module of its own: tests change it."""
    spec = importlib.util.spec_from_file_location("make_rules", RULES / "rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Committed(unittest.TestCase):
    def setUp(self):
        self.make = maker()
        self.text = (STATIC / "rules.js").read_text()

    def test_it_is_of_these_sources(self):
        recorded = re.search(r"^// sources ([0-9a-f]+), clang", self.text, re.MULTILINE)[1]
        self.assertEqual(recorded, self.make.digest(), "the rules have changed: ./learn author rules")

    def test_it_is_what_the_compiler_makes(self):
        version = re.search(r"clang ([\d.]+)$", self.text, re.MULTILINE)[1]
        try:
            _, here = self.make.compiler()
            if here != version:
                self.skipTest(f"clang {version} compiled it; this one is {here}")
            module = self.make.compiled()
        except self.make.NoCompiler as missing:
            self.skipTest(str(missing))
        self.assertEqual(base64.b64decode(re.search(r'rulesModule = "(.*)"', self.text)[1]), module)


# A clang++ for a test: it has the targets and the headers that it is told.
FAKE = """#!/bin/sh
case "$1" in
--version) echo "Debian clang version 99.0.1" ;;
--print-targets) printf '  Registered Targets:\\n    {target}     - one\\n    x86-64 - another\\n' ;;
*) echo "fatal error: 'cstdint' file not found" >&2; exit 1 ;;
esac
"""


class Compiler(unittest.TestCase):
    """What is missing is said in one line, and what is kept stays as it is."""

    def refused(self, clang, why):
        make = maker()
        make.shutil = types.SimpleNamespace(which=lambda name: clang and str(clang) if name == "clang++" else None)
        kept = make.WRITTEN.read_bytes()
        self.assertRaisesRegex(make.NoCompiler, re.escape(why), make.main, [])
        self.assertEqual(make.WRITTEN.read_bytes(), kept)

    def test_what_is_missing(self):
        folder = Path(tempfile.mkdtemp(prefix="warp-clang-"))
        self.addCleanup(shutil.rmtree, folder)
        clang = folder / "clang++"
        for target, why in (
            ("riscv32", f"{clang} has no target wasm32"),
            ("wasm32", f"{clang} cannot compile for wasm32: 'cstdint' file not found"),
        ):
            clang.write_text(FAKE.format(target=target))
            clang.chmod(0o755)
            self.refused(clang, why)
        self.refused(None, "clang++ is not installed")


class States(unittest.TestCase):
    def test_a_state_and_its_addresses(self):
        space, (a, b) = live.parse("shared:float*32+1:float4*2^@3")
        self.assertEqual((space, a), ("shared", live.Access("float", 32, 1)))
        self.assertEqual(b, live.Access("float4", 2, 0, True, 3))
        self.assertEqual(a.addresses()[:3], [0, 132, 264])
        self.assertEqual(b.addresses()[:4], [16 * element for element in (3, 6, 7, 10)])
        for state in (
            "shared:float*2",
            "local:float*2:float*3",
            "shared:float*2:char*3",
            "shared:float*2:float*3:float*4",
        ):
            with self.assertRaisesRegex(ValueError, "is no state"):
                live.parse(state)

    def test_an_index_a_tile_and_a_store(self):
        space, (a, b) = live.parse("shared:float2[lane*3%8]:float[lane][(lane+1)%32]^=")
        self.assertEqual(a, live.Access("float2", index="lane*3%8"))
        _, (wide, _) = live.parse("global:double[lane*5+1]:float*2")
        self.assertEqual((wide.addresses()[:2], wide.example("global")["size"]), ([8, 48], 8))
        self.assertEqual(a.addresses()[:4], [0, 24, 48, 8])
        self.assertEqual((b.swizzled, b.store, b.column), (True, True, "(lane+1)%32"))
        self.assertEqual(b.addresses()[:3], [4 * place for place in (1, 32 + (1 ^ 2), 64 + (2 ^ 3))])
        self.assertEqual(b.words(space), "tile[lane][(lane+1)%32 ^ lane] = … of float tile[32][32]")
        self.assertEqual(live.Access("float", index="lane", column="0", pad=1).addresses()[31], 4 * 31 * 33)
        for index in ("lane + x", "f(lane)", "lane if lane else 0", "1.5", "lane.real"):
            with self.assertRaisesRegex(ValueError, "is no index of lane"):
                live.index_of(index)

    def test_lines_of_the_chapters(self):
        """They are found where the simulator saw their access, and an access that it did not see is refused."""
        for _, state, places in live.LINES:
            self.assertIn(len(places), (1, len(live.parse(state)[1])))  # one line for both, or one for each
            for place in places:
                folder, rung, code = re.fullmatch(r"(\w+)/(\w*): (.*)", place).groups()
                text = (sample.ROOT / "chapters" / folder / f"{folder[3:]}.cu").read_text()
                self.assertIn(code, [line.strip() for line in text.split("\n")])
                self.assertIn(rung, text)
        self.addCleanup(setattr, live, "LINES", live.LINES)
        place = "00_test/kernel: f(in[3 * i]);"
        live.LINES = [("Three", "global:float*3:float*1", [place, "00_test/kernel: g(in[i]);"])]
        source = "first\n  f(in[3 * i]);\n\tg(in[i]);\n  f(in[3 * i]);\n"

        def page(*lines):
            return Page(Path("test.cu"), [Fold("", [Listing(Code(1, list(lines)))])])

        pages = {"chapters/00_test": page(), "more/00_test/x": page("  f(in[3 * i]);", "  g(in[i]);")}

        def trace(kernel, by, begins=320):
            lines = []
            for line, step in ((4, 3), (3, by)):
                addresses = [begins + 4 * step * lane for lane in range(32)]
                example = {"space": "global", "access": "load", "size": 4, "addresses": addresses}
                lines.append({"line": line, "examples": [dict(example, addresses=[*addresses[:31], None]), example]})
            return {"launches": [{"kernel": kernel, "lines": lines}]}

        found = live.lines_of("00_test", source, pages, trace("void kernel<1>(float*)", 1))
        self.assertEqual(found[place], live.Line("00", 4, "more/00_test/x.html#L4"))
        (html,) = live.lines_list(found)
        shown = html.text
        self.assertIn('<a href="#access=global:float*3:float*1">Three</a>', shown)
        self.assertIn(
            '<a href="more/00_test/x.html#L4">chapter 00, line 4</a> and <a href="more/00_test/x.html#L3">', shown
        )
        self.assertEqual(live.lines_of("01_other", source, pages, {}), {})
        self.assertEqual(live.lines_list({}), [])
        for wrong in (trace("kernel", 2), trace("kernels(int)", 1), trace("kernel(int)", 1, begins=324)):
            with self.assertRaisesRegex(live.BuildError, "00_test has no line '[fg].*' with an access global:float"):
                live.lines_of("00_test", source, pages, wrong)
        with self.assertRaisesRegex(live.BuildError, "no page of 00_test shows the line 'f"):
            live.lines_of("00_test", source, {"a": page("f(in[3 * i]); // other")}, trace("kernel(int)", 1))

    def test_the_still_picture(self):
        drawn = live.still("shared:float*32:float*32^")
        self.assertIn(
            "tile[lane][0] of float tile[32][32]: 32 wavefronts: at most 32 words in one bank, in 1 bank.", drawn.alt
        )
        self.assertIn("tile[lane][0 ^ lane] of float tile[32][32]: 1 wavefront: ", drawn.alt)
        self.assertIn(
            "in[lane * 3]: 12 sectors, 384 bytes moved, 128 of them wanted.", live.still("global:float*3:float*1").alt
        )

    def test_exercises_that_it_answers(self):
        """Each is there and asks for a prediction, and each example is one that there is."""
        for name, examples in live.ANSWERS.items():
            (source,) = sample.ROOT.glob(f"exercises/*/{name}.cu")
            self.assertIn("// Kind: predict", source.read_text())
            self.assertLessEqual(set(examples), set(live.EXAMPLES))
            self.assertEqual(live.answer(name), [Live("access-answer", examples)])
        self.assertEqual(live.answer("fill_the_kernel"), [])

    def test_what_an_exercise_asks(self):
        """The accesses are those of its constants, whose values its solution has; a drawing of each counts the same."""
        folders = [path.name for path in (sample.ROOT / "chapters").iterdir()]
        solutions = {one.name: one.solution for folder in folders for one in all_exercises(sample.ROOT, folder)}
        for name, asked in live.ASKED.items():
            text = solutions[name]
            right = [int(n) for n in re.findall(r"^constexpr int k\w+ = (\d+);", text, re.MULTILINE)]
            counts = []
            for _, state in asked:
                alt = live.still(f"{state}:float*1").alt
                counts.append(int(re.search(r": (\d+) (?:wavefront|sector)s?[:,]", alt)[1]))
            self.assertEqual(counts, right, name)
            self.assertEqual(live.ask(name), [Ask(name)])
        self.assertEqual(live.ask("fill_the_kernel"), [])

    def test_its_place_in_a_chapter(self):
        live.PLACES["00_test"] = [("kernel", ("strides",))]
        self.addCleanup(live.PLACES.pop, "00_test")
        card = Card("kernel", "", [], [], [])
        two = Text("## Two\n\nCases:\n\n- B.\n\nC.", None, range(20, 27))
        road = [Text("## One\n\nA."), two, card, Text("## Three")]
        live.place(road, "00_other")
        self.assertEqual(len(road), 4)
        live.place(road, "00_test")
        _, before, figure, behind, *_ = road
        self.assertEqual((before.text, behind.text), ("## Two\n\nCases:\n\n- B.", "C."))
        self.assertEqual((list(before.rows), list(behind.rows)), ([20, 21, 22, 23, 24], [26]))
        self.assertEqual(figure, Live("access-kernel", ("strides",)))
        short = [Text("## One\n\nA."), card]
        live.place(short, "00_test")
        self.assertEqual([type(one) for one in short], [Text, Live, Card])
        with self.assertRaisesRegex(live.BuildError, "stands at rung kernel, which 00_test does not have"):
            live.place([Text("## One")], "00_test")


class Answers(browser.InABrowser):
    """The module in a browser, beside the simulator's own rules."""

    def figure(self, examples, rules=None):
        """A page with one live figure."""
        folder = Path(tempfile.mkdtemp(prefix="warp-live-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "rules.js").write_text(rules or (STATIC / "rules.js").read_text())
        for name in ("lane_index.js", "access.js", "access.css", "counted.css"):
            shutil.copy(STATIC / name, folder)
        given = html.escape(json.dumps([live.EXAMPLES[name] for name in examples]))
        (folder / "page.html").write_text(
            f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="access.css"><link rel="stylesheet" href="counted.css"><div id="access"><div class="live" data-examples="{given}"></div></div>'
            '<script src="rules.js"></script><script src="lane_index.js"></script><script src="access.js"></script>'
        )
        page = self.browser.new_page()
        self.addCleanup(page.close)
        page.set_default_timeout(browser.PATIENCE)
        page.goto((folder / "page.html").as_uri())
        return page

    def test_an_exercise_is_answered(self):
        """Nothing is counted or drawn before a guess."""
        page = self.figure(["strides"])
        given = json.dumps(live.ASKED["six_patterns"])
        page.evaluate(
            "(given) => { document.querySelector('#access').innerHTML = '<div class=\"live ask\"></div>';"
            "document.querySelector('.ask').dataset.asked = given; }",
            given,
        )
        page.add_script_tag(content=(STATIC / "ask.js").read_text())
        rows = page.locator(".asked")
        self.assertEqual(rows.count(), 6)
        self.assertEqual(page.locator(".ask svg").count(), 0)
        self.assertNotRegex(page.locator(".ask").inner_text(), r"\d+ wavefronts?;|takes")
        self.assertIn("words[lane/8*32+lane%8] of float", " ".join(rows.last.inner_text().split()))
        for row, guess, near, said in (
            (3, "1", "no", "It takes 32."),
            (5, "4", "yes", "Right."),
            (0, "one", None, "Write a whole number."),
        ):
            rows.nth(row).locator("input").fill(guess)
            page.keyboard.press("Enter")
            output = rows.nth(row).locator("output")
            self.assertEqual((output.get_attribute("data-near"), output.inner_text()), (near, said))
        self.assertEqual(page.locator(".ask .code").inner_text(), "RowsOf8 4 wavefronts; 1 without conflicts")
        self.assertEqual(page.locator(".ask svg").count(), 1)

    def native(self, *flags):
        """The answers of the simulator's rules, compiled for this machine."""
        folder = Path(tempfile.mkdtemp(prefix="warp-rules-"))
        self.addCleanup(shutil.rmtree, folder)
        program = folder / "rules_answers"
        sources = [
            Path(__file__).with_name("rules_answers.cpp"), SIMT / "count" / "rules.cpp", SIMT / "base" / "lane_simd.cpp"
        ]  # fmt: skip
        command = ["g++", "-std=c++20", "-O1", *flags, f"-I{SIMT / 'include'}", f"-I{SIMT}", "-o", str(program)]
        subprocess.run([*command, *map(str, sources)], check=True, timeout=600)
        done = subprocess.run([program, str(COUNT)], check=True, capture_output=True, text=True, timeout=600)
        return done.stdout.splitlines()

    def test_they_are_the_simulators(self):
        here, there = self.figure(["strides"]).evaluate(ASK, COUNT), self.native()
        self.assertEqual(len(there), COUNT)
        differing = [(i, ours, theirs) for i, (ours, theirs) in enumerate(zip(here, there)) if ours != theirs]
        self.assertEqual(differing[:3], [])
        self.assertGreater(len(set(there)), 500, "the accesses are too much alike")

    def test_an_example_shows_its_costs(self):
        page = self.figure(live.EXAMPLES)
        buttons = page.locator(".examples button")
        self.assertEqual(buttons.count(), len(live.EXAMPLES))
        for i, (_, state) in enumerate(live.EXAMPLES.values()):
            with self.subTest(state=state):
                buttons.nth(i).click()
                # The still picture, which Python draws, says the same as the rules.
                counts = [int(n) for n in re.findall(r": (\d+) (?:wavefront|sector)s?[:,]", live.still(state).alt)]
                self.assertEqual([int(text) for text in page.locator(".big b").all_inner_texts()], counts)
                self.assertEqual(page.evaluate("decodeURIComponent(location.hash)"), f"#access={state}")
                self.assertEqual(buttons.nth(i).get_attribute("aria-pressed"), "true")
        self.assertEqual(page.locator(".examples [aria-pressed=true]").count(), 1)

    def test_wavefronts_one_after_the_other(self):
        """The slider shows as many of either side as it says, and all of them at first."""
        page = self.figure(["column", "offset", "broadcast"])
        first, second = (page.locator(".picture").nth(i).locator("[data-step]") for i in (0, 1))
        order = page.locator(".order input")
        self.assertEqual((page.locator(".later").count(), order.get_attribute("max")), (0, "32"))
        order.fill("4")
        later = [
            side.evaluate_all("cells => cells.filter((one) => one.matches('.later')).length")
            for side in (first, second)
        ]
        self.assertEqual(later, [28, 0])  # a word in each wavefront, and 32 in one
        self.assertEqual(page.locator(".order output").inner_text(), "4 of 32")
        page.locator(".examples button").nth(1).click()  # 4 sectors and 5
        self.assertEqual(page.locator(".later").count(), 0)
        order.fill("3")
        later = [
            side.evaluate_all("cells => cells.filter((one) => one.matches('.later')).length")
            for side in (first, second)
        ]
        self.assertEqual(later, [8, 16])
        page.locator(".examples button").nth(2).click()  # one wavefront each: nothing to play
        self.assertFalse(page.locator(".order").is_visible())

    def test_every_state_draws_as_many_rows_as_it_takes_wavefronts(self):
        said = self.figure(["strides"]).evaluate(
            """() => {
              const wrong = [];
              for (const size of [4, 8, 16]) for (let stride = 0; stride <= 72; stride++) {
                const addresses = Array.from({ length: 32 }, (_, lane) => size * lane * stride);
                const cost = warpRules.shared(addresses, size);
                const holder = document.createElement("div");
                holder.innerHTML = warpRules.drawBanks(addresses, size, cost);
                const rows = new Set([...holder.querySelectorAll("rect")].map((cell) => cell.getAttribute("y")));
                if (rows.size !== cost.wavefronts) wrong.push([size, stride, rows.size, cost.wavefronts]);
              }
              return wrong;
            }"""
        )
        self.assertEqual(said, [])

    def test_the_sliders_by_keyboard_and_the_verdict(self):
        page = self.figure(["strides"])
        self.assertIn(
            "A takes 2 × the wavefronts of B for the same bytes: a 2-way bank conflict",
            page.locator(".verdict").inner_text(),
        )
        words = page.locator(".verdict").inner_text()
        self.assertTrue(
            words.endswith(
                "A stride of 2 reaches 16 of 32 banks, as 2 divides it and 32; "
                "one of 3 reaches all 32 banks, as it has no factor in common with 32."
            ),
            words,
        )
        page.locator(".side >> nth=1").locator("[data-field=stride]").focus()
        page.keyboard.press("ArrowRight")  # 4
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["2", "4"])
        self.assertIn("B takes 2 × the wavefronts of A", page.locator(".verdict").inner_text())
        self.assertIn("reaches 8 of 32 banks, as 4 divides it and 32.", page.locator(".verdict").inner_text())
        self.assertTrue(page.url.endswith("#access=shared:float*2:float*4"), page.url)
        page.locator(".side >> nth=1").locator("[type=checkbox]").check()
        self.assertTrue(page.url.endswith("#access=shared:float*2:float*4^"), page.url)
        self.assertNotIn("reaches", page.locator(".verdict").inner_text())  # a swizzle is no stride
        page.locator(".side >> nth=1").locator("[data-field=stride]").focus()
        page.keyboard.press("ArrowRight")  # 5 words in a row: nothing to swizzle
        self.assertTrue(page.url.endswith("#access=shared:float*2:float*5"), page.url)
        page.locator(".follow input").focus()
        page.keyboard.press("End")
        self.assertIn(
            "31: word 62, bank 30, wavefront 2 · word 155, bank 27, wavefront 1", page.locator(".follow").text_content()
        )
        self.assertEqual(page.locator(".picture .on").count(), 2)

    def test_a_state_in_the_address(self):
        page = self.figure(["strides"])
        page.evaluate("location.hash = 'access=global:float*1:float*1@1'")
        page.wait_for_function("document.querySelector('.big b').textContent === '4'")
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["4", "5"])
        self.assertIn("80 %", page.locator(".verdict").inner_text())
        for wrong in ("shared:float*2", "shared:float*99:float*1", "global:float[lane][0]:float*1"):
            page.evaluate(f"location.hash = 'access={wrong}'")
            page.wait_for_function("document.querySelector('.verdict').textContent.startsWith('The address')")
            self.assertIn(f"asks for '{wrong}'; a state is like", page.locator(".verdict").inner_text())
            self.assertEqual(page.locator(".big b").all_inner_texts(), ["4", "5"])
        # A % is written as an address has to have it, or stands for itself where it can mean nothing else.
        for address in ("float[lane*8%2532]:float[7/(lane+1)]=", "float[lane*8%(32)]:float[7/(lane+1)]="):
            page.evaluate(f"location.hash = 'access=shared:{address}'")
            page.wait_for_function("document.querySelector('.big b').textContent === '1'")
            self.assertRegex(page.locator(".side code").first.inner_text(), r"words\[lane\*8%\(?32\)?\]")
            page.evaluate("location.hash = 'access=global:float*1:float*1@1'")
            page.wait_for_function("document.querySelector('.big b').textContent === '4'")
        page.evaluate("location.hash = 'access=shared:float[lane/(lane^4)]:float*1'")
        page.wait_for_function("document.querySelector('.verdict').textContent.endsWith('Lane 4 divides by 0.')")

    def test_an_index_means_what_it_does_in_c(self):
        """Expressions at random, against what Python makes of them; its signs are C's and bind as C's do."""
        page = self.figure(["own_index"])
        draw = random.Random(1)

        def made(deep):
            if deep == 0 or draw.random() < 0.2:
                return draw.choice(["lane", "i", "threadIdx.x", "0x1F", "7", "32", "3"])
            a, sign, b = (
                made(deep - 1),
                draw.choice(["+", "-", "*", "/", "%", "&", "^", "|", "<<", ">>"]),
                made(deep - 1),
            )
            space = draw.choice(["", " "])
            text = f"{a}{space}{sign}{space}{b}"
            return f"({text})" if draw.random() < 0.4 else draw.choice(["", "", "", "-"]) + text

        expressions = [made(draw.randint(1, 4)) for _ in range(2000)]
        said = page.evaluate(
            """(all) => all.map((text) => { try { return warpIndex(text); } catch (error) { return error.message; } })""",
            expressions,
        )
        right = 0
        for text, answer in zip(expressions, said):
            if isinstance(answer, str):
                self.assertRegex(answer, "^(Lane|In lane|An index has)", text)
                continue
            self.assertEqual(answer, live.index_of(text), text)
            right += 1
        self.assertGreater(right, 400)
        self.assertEqual(page.evaluate("warpIndex(' x[3 * lane + 1];').slice(0, 2)"), [1, 4])
        self.assertEqual(page.evaluate("warpIndex('1 | 6 ^ 2 & 3 << 1 + lane % 2 * 1')[1]"), 1 | 6 ^ 2 & 3 << 1 + 1)

    def test_a_bad_index_gets_one_line(self):
        page = self.figure(["own_index"])
        field, problem = page.locator("[data-field=index]").first, page.locator(".problem").first
        self.assertEqual((field.input_value(), page.locator(".big b").first.inner_text()), ("lane*5%32", "1"))
        for text, said in (
            ("", "Write an index, as lane * 33."),
            ("lane * ", "The index ends where a number or lane has to follow."),
            ("lane 3", "Before 3 an operator is missing, as in lane * 2."),
            ("(lane + 1", "A parenthesis is open: a ) is missing."),
            ("lane)", "A ) has no ( before it."),
            ("* 3", "A number or lane has to stand before *."),
            ("lane * stride", "'stride' is not known here: an index is made of lane (or threadIdx.x, tid, t, i), numbers, + - * / % & ^ | << >> and ( )."),
            (
                "tile[lane][0]",
                "An index stands in one pair of brackets; two are of a tile: choose 'by tile'.",
            ),
            ("alert(1)", "'alert' is not known here: an index is made of lane (or threadIdx.x, tid, t, i), numbers, + - * / % & ^ | << >> and ( )."),
            ("010", "010 would be octal in C: write it without the 0 in front."),
            ("8 / (lane ^ 2)", "Lane 2 divides by 0."),
            ("1 << (lane + 8)", "Lane 13 has index 2097152: the figure goes from 0 to 1,048,576."),
            ("lane >> lane * 2", "Lane 16 shifts by 32: legal is 0 to 31."),
            ("lane - 1", "Lane 0 has index -1: the figure goes from 0 to 1,048,576."),
            ("70000 * 70000", "In lane 0 a value is too large for an int."),
            ("+".join(["lane"] * 20), "An index has at most 80 letters here."),
        ):  # fmt: skip
            with self.subTest(text=text):
                field.evaluate("(input) => input.removeAttribute('maxlength')")
                field.fill(text)
                self.assertEqual(problem.inner_text(), said)
                self.assertEqual(field.get_attribute("aria-invalid"), "true")
                self.assertEqual(page.locator(".big b").first.inner_text(), "1")  # as it was, and pale
                self.assertEqual(page.locator(".side.before").count(), 1)
        field.fill("lane * 2")
        self.assertEqual(page.locator(".side.before").count(), 0)
        self.assertEqual((problem.inner_text(), page.locator(".big b").first.inner_text()), ("", "2"))
        self.assertIn("#access=shared:float[lane*2]:", page.evaluate("decodeURIComponent(location.hash)"))
        field.fill("in[lane * 2 + 1];")
        self.assertIn("#access=shared:float[lane*2+1]:", page.evaluate("decodeURIComponent(location.hash)"))

    def test_a_tile_and_a_store(self):
        page = self.figure(["tile"])
        side = page.locator(".side").first
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["32", "1"])
        side.get_by_label("layout").select_option("pad")
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["1", "1"])
        self.assertIn("tile[lane][0]  of float tile[32][32 + 1]", side.locator("code").text_content())
        side.get_by_label("access").select_option("store")
        self.assertIn("shared:float[lane][0]+1=:", page.evaluate("decodeURIComponent(location.hash)"))
        side.get_by_label("row").fill("lane / 16")
        side.get_by_label("column").fill("lane % 16 * 4")
        self.assertEqual(side.locator(".problem").last.inner_text(), "Lane 8 has index 32: a column goes from 0 to 31.")
        side.get_by_label("by").select_option("stride")
        self.assertEqual(side.locator("[data-field]").count(), 2)
        # The same places in the other memory, which has no tile, pad or offset.
        for state, space, there in (
            (
                "shared:float[lane/16][lane%16]+1:float*8^",
                "global",
                "global:float[(lane/16)*33+(lane%16)]:float[lane*8+(lane&7)]",
            ),
            ("global:double*3@1:float[7*lane]", "shared", "shared:double[lane*3+1]:float[7*lane]"),
            ("shared:float*5:float4[lane][0]^=", "global", "global:float*5:float4[lane*32+(0^lane)]="),
        ):
            page.evaluate(f"location.hash = 'access=' + encodeURIComponent('{state}')")
            page.wait_for_function(f"document.querySelector('[data-field=memory]').value === '{state.split(':')[0]}'")
            page.get_by_label("memory").select_option(space)
            self.assertEqual(page.evaluate("decodeURIComponent(location.hash)"), f"#access={there}")
        # Neighbours that share a place join the phases of a load of 16 bytes, and not those of a store.
        page.evaluate("location.hash = 'access=shared:float4[lane/2]:float4[lane/2]='")
        page.wait_for_function("document.querySelector('.big b').textContent === '2'")
        self.assertEqual(page.locator(".big b").all_inner_texts(), ["2", "4"])
