"""Bound numbers: how a quote is read, what an expression may say, and what a check refuses."""

import json
import subprocess
import sys
import unittest

import small

from warp.chapter import bindings, expressions, results, source
from warp.chapter.errors import SourceError


class Quotes(unittest.TestCase):
    def holds(self, quote, *values):
        numbers = bindings.quoted_numbers(quote)
        self.assertEqual(len(numbers), len(values), quote)
        return all(number.holds(value) for number, value in zip(numbers, values))

    def test_digits(self):
        self.assertTrue(self.holds("51.98 ms", 51.9783))
        self.assertFalse(self.holds("51.98 ms", 51.9712))
        self.assertTrue(self.holds("27,287 GB/s", 27287.4))
        self.assertFalse(self.holds("27,287 GB/s", 27286.4))
        self.assertTrue(self.holds("2^26 floats", 2**26))
        self.assertFalse(self.holds("2^26 floats", 2**26 + 1))
        self.assertTrue(self.holds("| 16.52 | 15.5 |", 16.519, 15.51))
        self.assertFalse(self.holds("| 16.52 | 15.5 |", 16.519, 15.56))
        self.assertEqual(len(bindings.quoted_numbers("float4 on sm_90, a 4x8 warp, fp32")), 0)

    def test_about(self):
        self.assertFalse(self.holds("41,500 GFLOP/s", 41520))
        self.assertTrue(self.holds("about 41,500 GFLOP/s", 41520))
        self.assertFalse(self.holds("about 41,500 GFLOP/s", 41560))
        self.assertTrue(self.holds("more than 5 times", 5.9))
        self.assertFalse(self.holds("more than 5 times", 4.9))
        self.assertTrue(self.holds("nearly 3 times", 2.6))
        self.assertFalse(self.holds("nearly 3 times", 3.1))

    def test_words(self):
        self.assertTrue(self.holds("ten times as long", 10.18))
        self.assertFalse(self.holds("ten times as long", 10.6))
        self.assertTrue(self.holds("twice", 1.9))
        self.assertTrue(self.holds("two thirds of it", 0.66))
        self.assertFalse(self.holds("a third of it", 0.4))
        self.assertTrue(self.holds("half of them", 0.49))
        self.assertTrue(self.holds("from three to eighteen", 3.2, 18))


class Expressions(small.Course):
    def value(self, expression):
        return expressions.evaluate(expression, expressions.Numbers(self.main, self.build))

    def test_what_they_find(self):
        for expression, value in (
            ('count("plain", "global_load_sectors") / count("plain", "global_load_requests")', 2.5),
            ('count("wide/w=4", "global_load_sectors")', 80),
            ('count("wide/w=4", "global_load_sectors", "wide")', 20),
            ('ms("plain")', 51.978),
            ('ms("plain", 128)', 103.2),
            ('rate("wide/w=2", "64")', 33.4),
            ('round(ratio("wide/w=4"), 1)', 1.2),
            ('error("wide/w=4") * 1e6', 4.2),
            ('clock("plain"), clock("wide/w=4")', (1980, 1935)),
            ('limit("copy") + limit("fma") - limit("sm_clock_mhz")', 4258.99 + 63043.5 - 1980),
            ('ms("02:plain")', 51.978),
            ('"faster" if ms("wide/w=4") < ms("plain") else "slower"', "faster"),
            ("132 * 1.98 / 66 * 2048 / 1000", 132 * 1.98 / 66 * 2048 / 1000),
            ("max(1, 3), min((4, 2)), sum(1, 2), -2 ** 4, 7 // 2, 7 % 4, abs(-1)", (3, 2, 3, -16, 3, 3, 1)),
        ):
            self.assertEqual(self.value(expression), value, expression)
        self.assertEqual(self.runs(), 1)

    def test_what_they_refuse(self):
        for expression, words in (
            ("__import__('os')", "there is no function __import__"),
            ("ms.__class__", "'ms.__class__' is not allowed"),
            ("[1 for x in (1,)]", "is not allowed"),
            ("lambda: 1", "is not allowed"),
            ("1 +", "this is no expression"),
            ("9 ** 9999", "an exponent is at most 64"),
            ('"a" * 99', "'a' is no number"),
            ("1 / 0", "a division by zero"),
            ("ms()", "ms: "),
            ('ms("plane")', "chapter 02 has no rung plane"),
            ('ms("03:plain")', "there is no chapter 03"),
            ('ms("plain", "64,64")', "is no size of this chapter"),
            ('ms("plain", 65)', "has plain at 64 128, not at 65"),
            ('ms("wide")', "wide has variants: write one of wide/w=2, wide/w=4"),
            ('ms("wide/w=3")', "has no wide/w=3; it has wide/w=2, wide/w=4"),
            ('count("plain", "sectors")', "no count is named sectors; there are global_load_requests"),
            ('count("plain", "global_load_sectors", "narrow")', "launches no kernel narrow"),
            ('count("tma", "global_load_sectors")', "counted nothing of tma (SKIP)"),
            ('limit("l2")', "no limit is named l2"),
        ):
            with self.assertRaises(expressions.ExpressionError, msg=expression) as caught:
                self.value(expression)
            self.assertIn(words, str(caught.exception))

    def test_what_is_not_recorded_yet(self):
        for expression in (
            'ms("later")',
            'ms("wide/w=8")',
            'ms("tma")',
            'ms("plain", 256)',
            'ms("plain", gpu="h100")',
            'hw("plain", "x")',
            'ncu("plain", "x")',
            'alone("plain", "DRAM")',
        ):
            with self.assertRaises(expressions.NotRecorded, msg=expression):
                self.value(expression)

    def test_counts_of_the_hardware(self):
        launches = [{"kernel": "plain", "counts": {"x": 1}}]
        launches += [{"kernel": "wide", "counts": {"x": number}} for number in (2, 4, 8)]
        self.store("h200_counts.json", {"launches": launches})
        self.assertEqual(self.value('hw("plain", "x"), hw("wide/w=4", "x")'), (1, 4))
        self.store("h200_counts.json", {"launches": launches[:3]})
        with self.assertRaisesRegex(expressions.ExpressionError, "2 launches of wide were counted, the program has 3"):
            self.value('hw("wide/w=4", "x")')
        rows = [{"rung": "plain", "variant": None, "size": {"n": size}, "metrics": {"y": size}} for size in (64, 128)]
        self.store("h200_caches.json", {"launches": rows})
        self.assertEqual(self.value('ncu("plain", "y"), ncu("plain", "y", 128)'), (64, 128))

    def test_what_a_resource_alone_would_take(self):
        rows = [
            {"rung": "plain", "variant": None, "size": [64], "alone_ms": {"DRAM": 2.5, "issue slots": 1}},
            {"rung": "wide", "variant": "w=4", "size": [128], "alone_ms": {"L1": 3}},
        ]
        self.store("h200_bounds.json", {"rows": rows})
        self.assertEqual(self.value('alone("plain", "DRAM"), alone("wide/w=4", "L1", 128)'), (2.5, 3))
        for wrong, words in (
            ('alone("plain", "L1")', "no L1 is known of plain; there are DRAM, issue slots"),
            ('alone("wide/w=4", "L1")', "h200_bounds.json has wide/w=4 at 128"),
            ('alone("wide/w=3", "L1")', "h200_bounds.json has no wide/w=3; it has wide/w=4"),
        ):
            with self.assertRaisesRegex(expressions.ExpressionError, words):
                self.value(wrong)

    def test_what_another_program_takes(self):
        row = small.timed("plain", None, 64, 3.0, 1.0)
        report = {"chapter": "02_small", "backend": "gpu", "device": "NVIDIA H200", "rows": [row]}
        for name in ("h200_pytorch", "h200_pairs"):
            self.store(f"{name}.json", report)
            self.assertEqual(self.value(f'ms("plain", 64, "{name}")'), 3)
        # They are not the chapter's results on a GPU.
        self.assertEqual(results.recorded_gpus(self.folder / "results"), ["h200"])

    def test_power_is_of_what_ran_for_a_second(self):
        row = small.timed("plain", None, 64, 3.0, 1.0)
        report = {"chapter": "02_small", "backend": "gpu", "device": "NVIDIA H200", "rows": [row]}
        for name, watts in (("h200_sustained", 612.5), ("h200_zeros", None)):
            row["clock"]["power_w"] = watts
            self.store(f"{name}.json", report)
        self.assertEqual(self.value('power("plain", 64, "h200_sustained")'), 612.5)
        with self.assertRaisesRegex(expressions.NotRecorded, "plain was not timed for a second"):
            self.value('power("plain", 64, "h200_zeros")')
        self.assertEqual(results.recorded_gpus(self.folder / "results"), ["h200"])

    def test_figures_of_many_shapes(self):
        with self.assertRaises(expressions.NotRecorded):
            self.value('shapes("median")')
        row = {"m": 4, "n": 8, "k": 16, "named": 1, "us": 2.0, "cublas_us": 3.0}
        random = {**row, "m": 5, "named": 0}
        self.store("h200_shapes.json", {"summary": {"median": 1.2}, "shapes": [random, row]})
        self.assertEqual(self.value('shapes("median"), shapes("4,8,16")'), (1.2, 1.5))
        for unknown in ("mean", "5,8,16"):
            with self.assertRaisesRegex(expressions.ExpressionError, "no named shape, and not in the summary: median"):
                self.value(f'shapes("{unknown}")')

    def test_figures_of_many_orders(self):
        with self.assertRaises(expressions.NotRecorded):
            self.value('orders("volatile all: best")')
        self.store("h200_orders.json", {"summary": {"volatile all: best": 55.1}, "orders": []})
        self.assertEqual(self.value('orders("volatile all: best")'), 55.1)
        with self.assertRaisesRegex(expressions.ExpressionError, "best is not in the summary: volatile all: best"):
            self.value('orders("best")')
        self.assertEqual(results.recorded_gpus(self.folder / "results"), ["h200"])

    def test_figures_of_some_of_many_shapes(self):
        rows = [(4, 16, 2.0), (5, 16, 8.0), (5, 99, 0.5), (6, 16, 0.25)]
        shapes = [{"m": m, "k": k, "named": 0, "us": 2.0, "cublas_us": 2 * ratio} for m, k, ratio in rows]
        shapes.append({**shapes[0], "named": 1})
        self.store("h200_shapes.json", {"summary": {}, "shapes": shapes})
        where = "m <= 5 and k == 16"
        for what, figure in (("count", 2), ("geometric mean", 4), ("least", 2), ("at least 2.5", 0.5)):
            self.assertAlmostEqual(self.value(f'shapes("{what}", "{where}")'), figure)
        for wrong, words in (
            ('shapes("median", "m > 4")', 'there are "count", .* not median'),
            ('shapes("least", "m > 6")', "no shape of the map has m > 6"),
            ('shapes("least", "us > 4 or x")', "'x' is not allowed here"),
        ):
            with self.assertRaisesRegex(expressions.ExpressionError, words):
                self.value(wrong)


class Chapters(small.Course):
    def outcomes(self, prose):
        self.source(prose)
        return bindings.check_chapter(self.main, self.build)

    def test_what_else_is_part_of_the_page(self):
        for name in ("taken_home.cuh", "small_sm90.cu", "shared.h"):
            (self.folder / name).write_text("// Words.\n")
        names = [file.name for file in source.other_files(self.main)]
        self.assertEqual(names, ["small_sm90.cu", "taken_home.cuh"])

    def test_a_chapter_without_any(self):
        self.assertIsNone(self.outcomes("It takes 51.98 ms."))

    def test_a_cause_of_a_time_needs_evidence(self):
        number = '//= 51.98 ms: ms("plain")\n'
        says = "It takes 51.98 ms, because it waits.\n"
        compares = '//= because it waits: ms("plain") > ms("wide/w=2")\n'
        row = {"rung": "plain", "variant": None, "size": [64], "alone_ms": {"DRAM": 2.5}}
        self.store("h200_bounds.json", {"rows": [row]})
        for evidence in (
            compares,
            '//= 51.98: ms("plain") + 0 * ms("wide/w=2")\n',
            '//= 51.98: ms("plain") + 0 * count("plain", "global_load_sectors")\n',
            '//= 51.98: ms("plain") + 0 * alone("plain", "DRAM")\n',
        ):
            found = self.outcomes(says + number + evidence)
            self.assertEqual({str(one) for one in found if one.word != bindings.OK}, set())
        self.assertFalse(
            [one for one in self.outcomes(says[:-2] + ": not measured.\n" + number) if one.word == bindings.WRONG]
        )
        found = self.outcomes(says + number)
        self.assertEqual([one.word for one in found], [bindings.OK, bindings.WRONG])
        self.assertIn("It takes 51.98 ms, because it waits.: a cause without evidence", str(found[1]))
        for wrong, why in (
            ('it waits: ms("plain") < ms("wide/w=2")', "it does not hold"),
            ('it waits: ms("plain")', "true or false, not 51.9"),
            ("it waits: 1 < 2", "a cause is shown by what was measured or counted"),
            ('it works: ms("plain") > ms("wide/w=2")', "does not say this"),
        ):
            found = self.outcomes(says + number + f"//= because {wrong}\n")
            self.assertEqual([one.word for one in found][1], bindings.WRONG)
            self.assertIn(why, found[1].value)

    def test_right_and_wrong(self):
        prose = (
            "It takes 51.98 ms, three\n"
            "times as long.\n"
            '//= 51.98 ms: ms("plain")\n'
            '//= three times: ms("plain") /\n'
            '//=   ms("wide/w=2")\n'
            '//= 51.99 ms: ms("plain")\n'
            '//= three: ms("wide/w=2")\n'
            '//= It takes: ms("plain")\n'
            '//= three: ms("plain"), ms("plain")\n'
            '//= three: "three"\n'
            '//= three: ms("later")\n'
        )
        found = self.outcomes(prose)
        self.assertEqual(
            [outcome.word for outcome in found], [bindings.OK] * 2 + [bindings.WRONG] * 5 + [bindings.PENDING]
        )
        self.assertEqual([outcome.line - self.first for outcome in found], [2, 3, 5, 6, 7, 8, 9, 10])
        for outcome, words in zip(
            found[2:],
            (
                "letter by letter",
                "it is 16.7",
                "has no number",
                "1 numbers in the quote, 2",
                "which is no number",
                "later is not in h200.json yet",
            ),
        ):
            self.assertIn(words, outcome.value)

    def test_times_and_rates_have_to_be_bound(self):
        prose = (
            "One takes 51.98 ms.\n"
            '//= 51.98 ms: ms("plain")\n'
            "\n"
            "Two take 3 us, 4.2 TFLOP/s and 7,000 GB/s, for 16 bytes and 3 msec.\n"
            "```text\n"
            "a program printed 4 ms\n"
            "```\n"
            "## Skipped (second reading)\n"
            "Here 5 ms are free.\n"
            "### Below\n"
            "And 6 ms.\n"
            "## Read\n"
            "But 7 ms are not.\n"
        )
        found = [(o.line - self.first, o.quote) for o in self.outcomes(prose) if o.word == bindings.WRONG]
        self.assertEqual(found, [(3, "3 us"), (3, "4.2 TFLOP/s"), (3, "7,000 GB/s"), (11, "7 ms")])

    def test_a_count_of_machine_code_is_not_typed(self):
        prose = (
            "One has 1,221 instructions, 12 fewer\n"
            "instructions than the other, and two instructions more.\n"
            "//= 1,221: 1000 + 221\n"
            '//= 12: count("plain", "global_load_sectors") - 8\n'
            "## Read later (second reading)\n"
            "It has 16 instructions.\n"
        )
        found = [(o.line - self.first, o.quote) for o in self.outcomes(prose) if o.word == bindings.WRONG]
        self.assertEqual(found, [(0, "1,221 instructions"), (4, "16 instructions")])

    def test_misplaced_lines(self):
        for prose, words in (
            ("//= 1: 1", "stands right under the paragraph"),
            ("It is 1.\n\n//= 1: 1", "stands right under the paragraph"),
            ("It is 1.\n//= 1", "write '//= QUOTE: EXPRESSION'"),
            ("It is 1.\n//=1: 1", "'//=' is followed by a space"),
        ):
            prose = prose.replace("\n\n", "\n//\n")
            with self.assertRaises(SourceError) as caught:
                self.outcomes(prose)
            self.assertIn(words, str(caught.exception))

    def test_the_program_runs_once(self):
        prose = 'It is 20.\n//= 20: count("plain", "global_load_sectors")\n'
        for runs in (1, 1):
            self.assertEqual([o.word for o in self.outcomes(prose)], [bindings.OK])
            self.assertEqual(self.runs(), runs)
        changed = json.loads(json.dumps(small.SIMULATED))
        changed["rows"][0]["counts"]["global_load_sectors"] = 21
        self.program(changed)
        self.assertEqual([o.value for o in self.outcomes(prose)], ["it is 21"])
        self.assertEqual(self.runs(), 2)

    def test_the_value_of_an_expression(self):
        found = subprocess.run(
            [small.ROOT / "learn", "author", "value", "06", 'ms("tiled/pad=0") / ms("tiled/pad=0")', "2 *"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn('ms("tiled/pad=0") / ms("tiled/pad=0"): 1\n', found.stdout)
        self.assertIn("WRONG 2 *: ", found.stdout)
        listed = subprocess.run([small.ROOT / "learn", "author", "value", "06"], capture_output=True, text=True)
        self.assertRegex(listed.stdout, r'(?m)^  "tiled/pad=0", "[\d,]+"  [\d.]+ ms  [\d,.]+ GB/s$')

    def test_the_authors_command(self):
        def ask(*words):
            command = [sys.executable, str(small.ROOT / "tools" / "warp"), "author", *words]
            environment = {"WARP_BUILD_DIR": str(self.build.parent), "PATH": "/usr/bin:/bin"}
            return subprocess.run(command, capture_output=True, text=True, env=environment)

        self.source('It is 20.\n//= 20: count("plain", "global_load_sectors")\n')
        done = ask("numbers", str(self.main))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("02_small: 1 ok, 0 wrong, 0 not recorded yet", done.stdout)
        self.source('It is 20.\n//= 20: count("plain", "global_load_sectors") + 1\n')
        self.assertEqual(ask("numbers", str(self.main)).returncode, 1)
        for words in (["numbers"], ["number", "02"], ["numbers", "77"]):
            self.assertEqual(ask(*words).returncode, 2)
