"""The report as a page: what it says, what it escapes, that it needs nothing else; and the maps of lanes."""

import json
import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import test_trace

sys.path.append(os.path.join(test_trace.fake.ROOT, "tests", "site"))
import markup_rules  # noqa: E402

from warp.base import paths
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.chapter import maps
from warp.explain import listing, page, problems
from warp.trace import trace


class Elements:
    """What a page holds; a tag that is not closed, or closes nothing, is an error."""

    def __init__(self, text):
        tree = markup_rules.Tree(text)
        if tree.wrong:
            raise AssertionError("\n".join(tree.wrong))
        self.nodes = list(tree.root.elements())
        self.scripts = [node.own_text() for node in self.nodes if node.tag == "script"]
        self.text = re.sub(r"\s+", " ", tree.root.words())

    def having(self, name):
        return [node.attributes[name] for node in self.nodes if name in node.attributes]


def example(space, access, address, size=4, active=range(32), phase_lanes=32, wavefronts=1):
    addresses = [address(lane) if lane in active else None for lane in range(32)]
    made = {"space": space, "access": access, "size": size, "addresses": addresses}
    if space == "shared" and access != "atomic":
        made.update(phase_lanes=phase_lanes, wavefronts=wavefronts)
    return made


class Page(test_trace.Made):
    def page(self, launches, findings=(), label="column.cu", **options):
        recorded = trace.of_json({"launches": launches, "findings": list(findings)})
        return page.render(recorded, label, main=self.cu, **options)

    def read(self, launches, *more, **options):
        return Elements(self.page(launches, *more, **options))

    def with_examples(self):
        launch = self.launch()
        launch["lines"][0]["examples"] = [
            example("global", "load", lambda lane: 4 * lane),
            example("shared", "store", lambda lane: 128 * lane, wavefronts=32),
        ]
        return launch

    def test_warnings_have_a_section_of_their_own(self):
        leak = self.finding("leak", 14, severity="warning", message="never freed")
        text = self.page([self.launch(findings=[self.finding()])], [leak])
        findings, warnings = text.split('<section id="findings">')[1].split('<section id="warnings">')
        self.assertIn("1 finding<", findings)
        self.assertNotIn("never freed", findings)
        self.assertIn("1 warning<", warnings)
        self.assertIn('<article class="error"><h3><span class="red">out-of-bounds</span> ', findings)
        self.assertIn('<article class="warning"><h3><span class="yellow">leak</span> ', warnings)
        self.assertNotIn('id="findings"', self.page([self.launch()], [leak]))

    def test_a_note_says_what_the_counts_leave_out(self):
        recorded = trace.of_json(test_trace.fake.trace_of([self.launch()], []))
        recorded.notes = ["Reads of <textures> are not counted."]
        self.assertIn("<p>Reads of &lt;textures&gt; are not counted.</p>", page.render(recorded, "column.cu", self.cu))

    def test_advice_on_a_line_without_an_access_has_no_link(self):
        known, other = (problems.Problem(self.cu, line, 1, "slow", "mend it", "06") for line in (8, 13))
        with unittest.mock.patch.object(page.report, "advice", return_value=[known, other]):
            text = self.page([self.launch()])
        self.assertRegex(text, r'<li><a href="#k0-L\d+"><code>[^<]*column.cu:8</code></a> Slow')
        self.assertRegex(text, r"<li><code>[^<]*column.cu:13</code> Slow")

    def test_the_order_of_streams_is_drawn(self):
        recorded = trace.of_json(test_trace.fake.trace_of([self.launch()], []))
        piece = {"what": "a<b", "stream": 1, "device": 0, "file": "", "line": 0, "after": []}
        self.assertNotIn('id="order"', page.render(recorded, "column.cu", self.cu))
        recorded.rounds = trace.of_json({"launches": [], "rounds": [{"work": [piece]}]}).rounds
        drawn = page.render(recorded, "column.cu", self.cu)
        self.assertIn("1 piece of work in 1 step, at most 1 at once", drawn)
        self.assertIn("stream 1  a\n", drawn.split('id="order"')[1].replace("</pre>", "\n"))
        self.assertNotIn('id="order"', page.render(recorded, "column.cu", self.cu, launch=0))

    def test_it_says_what_the_terminal_says(self):
        read = self.read([self.launch(findings=[self.finding()])])
        for words in (
            "global loads: 2 requests, 5 sectors, 2.5 per request; 20.0 active lanes",
            "bytes of global memory: 192 asked for, 416 moved, 46.2 % used",
            "column.cu:8 4 sectors, 4.0 a load; 32 wavefronts, 32.0 times the ideal",
            "Each shared store takes 32.0 wavefronts where 1.0 would do",
            "out-of-bounds in kernel copy<32> at",
            "block (3,0,0), thread (17,1,0), launch 0",
            "write of 4 bytes, 12 bytes past the end",
            "allocation: 32 floats",
            "tile[i * 32] = in[i];",
            "return x * factor[0];",
        ):
            self.assertIn(words, read.text)
        self.assertNotIn("int main", read.text)

    def test_colours(self):
        text = self.page([self.launch()])
        self.assertIn('class="cost wasted" data-line="8" data-requests="1" data-cost="4s 32w"', text)
        self.assertIn('<span class="red">20.0 times</span>', text)
        self.assertNotRegex(text, "[\x00-\x08]")
        painted = page.escaped("<b> " + page.marks("red", "1 < 2"))
        self.assertEqual(painted, '&lt;b&gt; <span class="red">1 &lt; 2</span>')

    def test_every_link_leads_to_a_line(self):
        read = self.read([self.launch(), self.launch(1, "other")])
        identities = read.having("id")
        self.assertEqual(len(identities), len(set(identities)))
        targets = [target for target in read.having("href") if target.startswith("#")]
        self.assertGreater(len(targets), 8)
        for target in targets:
            self.assertIn(target[1:], identities)

    def test_it_needs_no_other_file_and_no_network(self):
        read = self.read([self.with_examples()])
        self.assertEqual(read.having("src"), [])
        outside = [target for target in read.having("href") if not target.startswith("#")]
        self.assertEqual(outside, ["data:,"])  # an empty icon, or the browser would ask for one
        text = self.page([self.with_examples()]).replace("http://www.w3.org/2000/svg", "")
        for word in ("://", "@import", "url(", "fetch(", "XMLHttpRequest", "import("):
            self.assertNotIn(word, text)

    def test_hostile_text(self):
        evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x01red\x02x\x03"
        with open(self.cu, "w") as file:
            source = test_trace.SOURCE.replace("/// Copies a column.", "/// " + evil)
            file.write(source.replace("int i", f"int i/*{evil}*/"))
        launch = self.with_examples()
        launch["kernel"] = f"copy<{evil}>"
        launch["findings"] = [self.finding(kind=evil, message=evil, allocation=evil)]
        renamed = os.path.join(self.folder.name, "a<b>&'\".cu")
        os.rename(self.cu, renamed)
        self.cu = renamed
        for row in launch["lines"][:3]:
            row["file"] = renamed
        read = self.read([launch], label=evil)
        self.assertEqual([node.tag for node in read.nodes if node.tag in ("img", "b")], [])
        self.assertEqual(len(read.scripts), 1)
        self.assertIn(paths.shown(renamed) + ":8", read.text)
        self.assertIn("alert(1)", read.text)
        self.assertNotRegex(self.page([launch], label=evil), "[\x00-\x08]")

    def test_pictures_only_where_there_are_examples(self):
        read = self.read([self.launch()])
        patterns = [part for costs in read.having("data-costs") for of in json.loads(costs).values() for part in of]
        self.assertEqual((len(read.scripts), any(patterns)), (1, False))
        read = self.read([self.with_examples()])
        title = next(title for title in read.having("title") if title.startswith("Line 8"))
        self.assertRegex(
            title, "^Line 8: global loads: 1 request, 4 sectors each; shared stores: .* 32 wavefronts each; Each shared"
        )
        self.assertIn("k0-L8", read.having("id"))
        costs = json.loads(read.having("data-costs")[0])
        self.assertEqual(costs["8"], [[["g", 0, 4, [0, 4]]], [["s", 1, 4, [0, 128]]], []])

    def test_the_script_draws_the_line_that_is_pressed(self):
        chromium = Machine().chromium()
        if not chromium:
            self.skipTest("no Chromium here")
        press = '<script>document.querySelector("button.cost").click();</script></body>'
        path = os.path.join(self.folder.name, "report.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page([self.with_examples()]).replace("</body>", press))
        home = os.path.join(self.folder.name, "chromium")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + home]
        done = subprocess.run(
            command + ["--dump-dom", "file://" + path], capture_output=True, encoding="utf-8", timeout=120
        )
        drawing = done.stdout.partition('class="cost-detail"')[2].partition("</section>")[0]
        self.assertIn("Line 8: global loads: 1 request, 4 sectors each.", drawing)
        self.assertIn("<figcaption>4 sectors: 4 bytes a lane</figcaption>", drawing)
        self.assertIn("<figcaption>32 wavefronts: 4 bytes a lane</figcaption>", drawing)
        self.assertIn("Each shared store takes 32.0 wavefronts", drawing)
        self.assertEqual(drawing.count("<svg "), 2)

    def test_one_launch(self):
        text = self.read([self.launch(0), self.launch(1, scale=3)], launch=1).text
        self.assertIn("launch 1", text)
        self.assertNotIn("launch 0", text)
        with self.assertRaises(LearnError):
            self.page([self.launch()], launch=4)

    def test_nothing_to_show(self):
        self.assertIn("launched no kernel", self.read([]).text)
        self.assertIn("no access to global", self.read([dict(self.launch(), counts={}, lines=[])]).text)
        os.unlink(self.cuh)
        self.assertIn("(source not found)", self.read([self.launch()]).text)


class Listings(unittest.TestCase):
    """The component of this page and of the site's."""

    def test_requests_in_brief(self):
        for count, words in ((950, "950"), (1000, "1k"), (1536, "1.5k"), (16384, "16k"), (2_000_000, "2M")):
            self.assertEqual(listing.in_brief(count), words)
        for counts, words in (
            ([8, 8], "8"),
            ([16384, 65536], "16–66k"),
            ([900, 16384], "900–16k"),
            ([5000, 2**21], "5k–2.1M"),
        ):
            self.assertEqual(listing.requests_of([listing.Cost("f", "global loads", "sectors", counts)]), words)

    def test_what_costs_has_a_button_and_what_is_hidden_or_left_out_a_gap(self):
        cost = listing.Line("8", "4s", False, [("global loads: 8 requests", [["g", 0, 4, [0, 4]]])])
        told = listing.Told({2: cost, 3: listing.Line(is_hidden=True), 9: listing.Line(mark="changed")}, "k0-", "other")
        text = listing.markup([(n, f"line {n}\n") for n in (1, 2, 3, 4, 9)], told, waits_for="a_guess")
        self.assertIn('<span class="linenos" id="k0-L1">1</span>line 1\n', text)
        self.assertIn('data-line="2" data-requests="8" data-cost="4s" title="Line 2: global loads: 8 requests">', text)
        self.assertIn(
            '<span class="gap" data-lines="1"></span><span class="further"><span class="linenos" id="k0-L3">', text
        )
        self.assertIn('line 4\n<span class="gap left-out" data-lines="4"></span><span class="changed">', text)
        self.assertIn("what differs from <code>other</code>", text)
        self.assertIn('data-for="a_guess"', text)
        self.assertIn('<label class="counts-switch"><input type="checkbox"> ', text)
        without = listing.markup([(1, "line 1\n")], listing.Told())
        for part in ("listing-bar", "data-costs", "gap", "<button"):
            self.assertNotIn(part, without)


class Maps(unittest.TestCase):
    """Pictures worked out on paper."""

    def caption(self, *arguments, **options):
        return maps.of_example(example(*arguments, **options)).caption

    def test_sectors(self):
        drawn = maps.of_example(example("global", "load", lambda lane: 4 * lane))
        self.assertEqual(drawn.caption, "4 sectors, 128 bytes moved, 128 of them wanted")
        self.assertEqual([sector.label for sector in drawn.sectors], ["+0", "+32", "+64", "+96"])
        self.assertEqual(drawn.sectors[1].words, [str(n) for n in range(8, 16)])
        column = maps.of_example(example("global", "store", lambda lane: 64 + 512 * lane))
        self.assertEqual(column.caption, "32 sectors, 1024 bytes moved, 128 of them wanted")
        self.assertEqual([bool(word) for word in column.sectors[3].words], [True] + [False] * 7)
        self.assertEqual(column.sectors[3].label, "+1536")

    def test_words_that_lanes_share_or_span(self):
        one = maps.of_example(example("global", "load", lambda lane: 96))
        self.assertEqual(one.sectors[0].words[0], "0-31")
        bytes_ = maps.of_example(example("global", "load", lambda lane: lane, size=1))
        self.assertEqual(bytes_.sectors[0].words[:2], ["0-3", "4-7"])
        wide = maps.of_example(example("global", "load", lambda lane: 8 * lane, size=8))
        self.assertEqual(wide.sectors[0].words, list("00112233"))
        two = maps.of_example(example("global", "load", lambda lane: 4 * (lane % 2)))
        self.assertEqual(two.sectors[0].words[0], "0+15")

    def test_inactive_lanes(self):
        few = maps.of_example(example("global", "store", lambda lane: 4 * lane, active=(0, 4, 8)))
        self.assertEqual(few.caption, "2 sectors, 64 bytes moved, 12 of them wanted")
        self.assertIsNone(maps.of_example(example("shared", "load", lambda lane: 0, active=())))

    def test_atomics_that_wait(self):
        self.assertIn("30 lanes wait for another", self.caption("global", "atomic", lambda lane: 4 * (lane % 2)))
        self.assertNotIn("wait", self.caption("global", "atomic", lambda lane: 4 * lane))

    def test_banks(self):
        drawn = maps.of_example(example("shared", "load", lambda lane: 8 * lane))
        stacks = drawn.groups[0].stacks
        self.assertEqual([len(stack) for stack in stacks], [2, 0] * 16)
        self.assertEqual(stacks[2], ["1", "17"])
        self.assertEqual(drawn.groups[0].label, "")
        self.assertEqual(
            self.caption("shared", "load", lambda lane: 8 * lane, wavefronts=2),
            "2 wavefronts: at most 2 words in one bank",
        )
        self.assertTrue(self.caption("shared", "load", lambda lane: 0).startswith("1 wavefront: at most 1 word"))

    def test_wide_words_go_in_phases(self):
        for width, labels in ((16, ["lanes 0-15", "lanes 16-31"]), (32, [""])):
            drawn = maps.of_example(example("shared", "load", lambda lane: 8 * lane, size=8, phase_lanes=width))
            self.assertEqual([group.label for group in drawn.groups], labels)

    def test_shared_atomics_are_served_lane_by_lane(self):
        self.assertEqual(self.caption("shared", "atomic", lambda lane: 4 * (lane % 4)), "at most 8 lanes in one bank")
