"""The chapters' sass.txt: what nvcc makes of the kernels on each architecture is what the chapters state."""

import json
import re
import tempfile
import unittest
from pathlib import Path

from chapter import ROOT

from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.chapter import recorded, source
from warp.chapter.errors import ExpressionError
from warp.chapter.functions import find_function
from warp.exercise import exercises
from warp.machinecode import code, disassembly, expectations, tools
from warp.site import compiler_explorer

LABELS = ["chapter", "slow"]
NEEDS = []


def toolchain():
    """(tools.Toolchain, None), or (None, why there is none)."""
    try:
        return tools.Toolchain(Machine()), None
    except LearnError as error:
        return None, error.message


TOOLCHAIN, LACK = toolchain()
NEWEST = 120  # sm_121 is of the same family
STATED = sorted((ROOT / "chapters").glob(f"*/{expectations.FILE}"))


class Stated(unittest.TestCase):
    def test_each_names_kernels_of_its_chapter(self):
        self.assertTrue(STATED)
        for file in STATED:
            text = (file.parent / f"{file.parent.name[3:]}.cu").read_text(encoding="utf-8")
            found = expectations.parse(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
            self.assertTrue(found, file)
            for expected in found:
                self.assertIsNotNone(find_function(text, expected.kernel.split("<")[0]), f"{file}: {expected.kernel}")

    def test_what_cannot_be_read_is_named(self):
        for text, part in (
            ("one: LDG.12", "sass.txt:1: cannot read 'LDG.12'"),
            ("\none LDG.128", "sass.txt:2: cannot read 'one LDG.128'"),
            ("one: no spills; fast", "cannot read 'fast'"),
            ("one: FFMA >= many % in loop", "cannot read 'FFMA >= many % in loop'"),
        ):
            with self.assertRaises(LearnError) as raised:
                expectations.parse(text)
            self.assertIn(part, raised.exception.message)


def recordings():
    """(main source, the text of all sources, recorded_sass.json) of every chapter that shows machine code."""
    for main in source.find_chapters(ROOT / "chapters"):
        text = recorded.text_of(main)
        if recorded.kernels_named(text):
            yield main, text, recorded.load(main)


class Recorded(unittest.TestCase):
    def test_every_excerpt_is_the_recorded_one(self):
        chapters = list(recordings())
        self.assertTrue(chapters)
        for main, text, data in chapters:
            self.assertIsNotNone(data, f"{main}: ./learn author sass {main.parent.name[:2]}")
            self.assertEqual(recorded.rewritten(text, data["excerpts"]), text, "./learn author sass NN")
            self.assertEqual({one.key for one in recorded.excerpts(text)}, set(data["excerpts"]))
            self.assertEqual(recorded.kernels_named(text), list(data["kernels"]))

    def test_a_line_written_by_hand_is_found(self):
        shown = [(text, data) for _, text, data in recordings() if recorded.excerpts(text)]
        self.assertTrue(shown)
        for text, data in shown:
            one = next(one for one in recorded.excerpts(text) if len(one.body) > 1)
            changed = text.replace(f"// {one.body[0]}\n", f"// {one.body[0]} \n// NOP\n", 1)
            self.assertNotEqual(changed, text)
            self.assertNotEqual(recorded.rewritten(changed, data["excerpts"]), changed)

    def test_what_cannot_be_asked_is_named(self):
        data = {"kernels": {"one": {"registers": 8, "kernel": {"LDG": 2, "LDG.32": 2}, "loop": None}}}
        self.assertEqual(recorded.figure(data, "one", "registers"), 8)
        self.assertEqual(recorded.figure(data, "one", "LDG.32"), 2)
        self.assertEqual(recorded.figure(data, "one", "LDG.128"), 0)
        asked = '//= 9: sass("one", "LDG",\n//=   "FFMA") + sass("two", "LDG", "LDGSTS") + sass("one", "LDG", "loop")'
        self.assertEqual(recorded.opcodes_named(asked, "one"), ["FFMA"])
        for asked, part in (
            (("other", "LDG"), "no machine code of other"),
            (("one", "LDG", "loop"), "the kernel has one; not 'loop'"),
            (("one", "LDG", "block"), "kernel, loop or an opcode"),
            (("one", "LDG", "FFMA"), "kernel, loop or an opcode"),
            (("one", "speed"), "'speed' is no opcode"),
        ):
            with self.assertRaises(ExpressionError) as raised:
                recorded.figure(data, *asked)
            self.assertIn(part, str(raised.exception))
        with self.assertRaises(LearnError) as raised:
            recorded.Excerpt("sass", "one lines")
        self.assertIn("'lines' is none of from=, lines=, in=, only=, control=", raised.exception.message)
        with self.assertRaises(LearnError) as raised:
            recorded.Excerpt("sass", "one control=all")
        self.assertIn("it is control=yes, or left out", raised.exception.message)
        with self.assertRaises(LearnError):
            recorded.Excerpt("sass", "one from=HMMA").cut([("LDG R1", "0000 LDG R1")])

    def test_control_codes_are_said(self):
        for control, said in (
            (disassembly.Control(13, True, None, None, 0, 0), "13 cycles"),
            (disassembly.Control(1, False, 2, None, 0, 0), "SB2 until written; 1 cycle"),
            (disassembly.Control(2, False, None, 0, 0b10100, 0), "waits for SB2, SB4; SB0 until read; 2 cycles"),
        ):
            self.assertEqual(recorded.control_words(control), said)


@unittest.skipUnless(TOOLCHAIN, LACK)
class Compiled(unittest.TestCase):
    def test_every_architecture(self):
        stated = [
            (file.parent / f"{file.parent.name[3:]}.cu", expectations.parse(file.read_text(encoding="utf-8")))
            for file in STATED
        ]
        assembled = expectations.Assembled(TOOLCHAIN, stated)
        self.addCleanup(assembled.close)
        for architecture in TOOLCHAIN.architectures():
            if int(architecture[3:]) > NEWEST:
                continue
            kernels = assembled.kernels(architecture)
            for main, expected in stated:
                with self.subTest(f"{main.parent.name} on {architecture}"):
                    self.assertEqual(expectations.check(expected, kernels[str(main)]), [])

    def test_the_recorded_code_is_what_this_compiler_makes(self):
        for main, text, data in recordings():
            if data["nvcc"] != TOOLCHAIN.release:
                self.skipTest(f"recorded with nvcc {data['nvcc']}, here is {TOOLCHAIN.release}")
            self.assertEqual(json.loads(json.dumps(recorded.make(TOOLCHAIN, main, text))), data, main)

    def test_the_columns_of_the_exercise_are_compiled(self):
        """which_kernel of chapter 10 shows four kernels: each column is what is left of one of them without addresses."""
        source = ROOT / "exercises" / "10_sass_inspection" / "which_kernel.cu"
        rows = re.findall(r"^//     ( *\S.*)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        header, *rows = [f"//     {row}" for row in rows]
        starts = [header.index(word) for word in ("first", "second", "third", "fourth")]
        ends = [*starts[1:], 200]
        columns = [[row[a:b].strip() for row in rows if row[a:b].strip()] for a, b in zip(starts, ends)]
        made = {}
        for one in code.compile_source(TOOLCHAIN, str(source), recorded.ARCHITECTURE):
            lines = []
            for instruction in one.instructions:
                operands = instruction.operands.split(", ")
                if instruction.opcode in ("LDG", "LDS"):
                    lines.append(f"{instruction.name} {operands[0]}")
                elif instruction.opcode in ("STG", "STS"):
                    lines.append(f"{instruction.name} {operands[-1]}")
                elif instruction.opcode == "FADD":
                    lines.append(f"{instruction.name} {instruction.operands}")
                elif instruction.opcode == "BAR":
                    lines.append("BAR")
            made[one.base] = lines
        names = ("add_local", "add_reversed", "add_in_place", "add_pair")
        self.assertEqual(columns, [made[name] for name in names])

    def test_the_exercise_about_spills_ends_them(self):
        """The blank of end_the_spills spills on every GPU that its bars speak of, the solution does not."""
        exercise = exercises.read(ROOT, "10_sass_inspection", "end_the_spills")
        spilled = []
        for text in (exercise.blank, exercise.solution):
            with tempfile.TemporaryDirectory() as place:
                source = Path(place) / "end_the_spills.cu"
                source.write_text(text, encoding="utf-8")
                (kernel,) = code.compile_source(TOOLCHAIN, str(source), recorded.ARCHITECTURE)
            spilled.append(kernel.resources.spill_stores)
        self.assertGreater(spilled[0], 500)
        self.assertEqual(spilled[1], 0)

    def test_compiler_explorer_gets_the_kernel_of_the_page(self):
        """What a link of chapter 10 carries compiles by itself, to the machine code that is recorded."""
        folder = ROOT / "chapters" / "10_sass_inspection"
        data = recorded.load(folder / "sass_inspection.cu")
        for kernel in ("copy_struct<PlainFloat4>", "copy_async<4u>", "store_order<8>", "copy_bulk"):
            units = [compiler_explorer.unit(file.read_text(encoding="utf-8"), kernel) for file in folder.glob("*.cu")]
            (unit,) = filter(None, units)
            with tempfile.TemporaryDirectory() as place:
                source = Path(place) / "unit.cu"
                source.write_text(unit, encoding="utf-8")
                (made,) = code.compile_source(TOOLCHAIN, str(source), data["architecture"])
            if data["nvcc"] == TOOLCHAIN.release:
                self.assertEqual(json.loads(json.dumps(recorded.facts(made))), data["kernels"][kernel], kernel)

    def test_each_claim_can_fail(self):
        text = """\
__global__ void scalar(float* b, const float* a, int n) {
  for (int i = threadIdx.x; i < n; i += 256) b[i] = a[i] * 2;
}
__global__ void __launch_bounds__(1024) spilling(float* b, const float* a, int n) {
  float kept[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) kept[i] = a[i * n + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) b[(i + 1) * n + threadIdx.x] = kept[i] * kept[95 - i];
}
"""
        with tempfile.TemporaryDirectory() as folder:
            main = Path(folder) / "sample.cu"
            main.write_text(text)
            stated = expectations.parse(
                "scalar: LDG.32; LDG.128; no LDG.32 in loop; FFMA >= 10 % in loop; no spills\n"
                "spilling: LDG.32 in loop; no spills\nmissing: no spills\n"
            )
            # A source beside it has a kernel of the same name, which must not be taken for this one's.
            other = Path(folder) / "other.cu"
            other.write_text("__global__ void scalar(float4* b, float4* a) { b[threadIdx.x] = a[threadIdx.x]; }\n")
            wide = expectations.parse("scalar: LDG.128; STG.128; no LDG.32")
            assembled = expectations.Assembled(TOOLCHAIN, [(main, stated), (other, wide)])
            self.addCleanup(assembled.close)
            kernels = assembled.kernels("sm_90")
            self.assertEqual(expectations.check(wide, kernels[str(other)]), [])
            problems = "\n".join(expectations.check(stated, kernels[str(main)]))
            for part in (
                "scalar: LDG.128: none of them",
                "scalar: no LDG.32 in loop:",
                "scalar: FFMA >= 10 % in loop: FFMA 0.0 %",
                "spilling: LDG.32 in loop: has no loop",
                "spilling: no spills: spills",
                "missing: no such kernel",
            ):
                self.assertIn(part, problems)
            self.assertEqual(len(problems.splitlines()), 6, problems)
