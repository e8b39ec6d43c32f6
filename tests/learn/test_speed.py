"""What ./learn explain says of how fast a kernel could be: programs that are right and slow, each beside one that is not."""

import functools
import os
import pathlib
import shutil
import tempfile
import unittest

import fake

import suites

from warp.base.errors import UsageError
from warp.explain import against, speed
from warp.machinecode import bounds
from warp.trace.trace import Kernel

LABELS = ["learn", "simt", "slow"]
NEEDS = ["simtcc", "simt"]

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
# A program that differs from another in one place: (the other, what stands there, what takes its place). Where more is
# different it is a file.
GRID = "twice<<<1, 256>>>"
VARIANTS = {
    "tiny_grid": ("one_block", GRID, "twice<<<4, 128>>>"),
    "tiny_grid_right": ("one_block", GRID, "twice<<<(n + 127) / 128, 128>>>"),
    "one_block_right": ("one_block", GRID, "twice<<<(n + 255) / 256, 256>>>"),
    "one_warp_right": ("one_warp", "<<<(n + 31) / 32, 32>>>", "<<<(n + 127) / 128, 128>>>"),
    "double_right": ("double", "* 0.1 +", "* 0.1f +"),
    "stride_right": ("stride", "thread * per_thread + k", "k * threads + thread"),
    "conflicts_right": ("conflicts", "tile[32][32]", "tile[32][33]"),
    "divergence_right": ("divergence", "i % 2 == 0", "i / 32 % 2 == 0"),
    "tenth_of_a_grid": ("one_block", GRID, "twice<<<12, 64>>>"),
    "chunks": ("stride", "per_thread = 8;", "per_thread = 200;"),
    "chunks_of_few_blocks": ("chunks", "<<<(n + 2047) / 2048, 256>>>", "<<<24, 64>>>"),
    "stride_and_double": ("stride", "2.0f *", "0.1 *"),
    "parted_right": ("parted", "i % 2 == 0", "i / 32 % 2 == 0"),
    "managed_block_right": ("managed_block", "add<<<1, 256>>>", "add<<<(n + 255) / 256, 256>>>"),
    "local_array_right": ("local_array", "#pragma unroll 1\n", "#pragma unroll\n"),
    "registers_right": ("registers", "threads = 1024", "threads = 128"),
}

# program -> what its first advice has to say; with nvcc, where that is something else.
CAUSES = {
    "one_block": ("The only block keeps 1 of 132 SMs busy",),
    "tiny_grid": ("The 4 blocks keep 4 of 132 SMs busy",),
    "one_warp": ("Blocks of one warp: an SM has room for 32 blocks, and so for 32 of the 64 warps",),
    "double": ("in double, though no parameter is one",),
    "stride": ("takes 32.0 sectors where 4.0 would do",),
    "conflicts": ("takes 32.0 wavefronts where 1.0 would do, as lanes meet in a bank",),
    "divergence": ("as the branch near", "parts the lanes of a warp"),
    "atomics": ("100,000 atomic operations meet on one word",),
    "managed_block": ("The only block keeps 1 of 132 SMs busy",),
    "members": ("as the lanes are 32 bytes apart, as in an array of structures: give each member an array of its own",),
    "reloads": (
        "83.9 MB are loaded of 524 KB, each byte about 160 times",
        "let a block load a tile into shared memory once",
    ),
}
# The same where only the machine code shows it.
COMPILED_CAUSES = {
    "local_array": (
        "64 bytes of each thread's own lie in local memory, that is in L1 and DRAM, and the machine code has",
    ),
    "parted": ("of 32 lanes take part in an instruction, as the branch near here parts the lanes of a warp",),
    "registers": ("An H200 refuses this launch with cudaErrorLaunchOutOfResources: nvcc gives each thread",),
}
ADVICE = "What to do about it, costliest first:\n"


class Names(unittest.TestCase):
    def test_without_a_name_it_is_an_h200(self):
        self.assertEqual(speed.gpu_named(None).name, "H200")

    def test_an_unknown_gpu_gets_the_nearest_and_the_legal_ones(self):
        with self.assertRaises(UsageError) as raised:
            speed.gpu_named("rtx 4080")
        text = str(raised.exception)
        self.assertIn("--gpu rtx 4080: there is no such GPU in the table; did you mean RTX 4090", text)
        self.assertIn("Legal are T4, RTX 3060, RTX 4090, RTX 5090, A100, H100, H200, B200", text)
        self.assertNotIn("\n", text)


class Doubles(unittest.TestCase):
    """Where the source alone shows arithmetic in double."""

    def lines_of(self, body, head="__global__ void k(float* out, float x)"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.cu")
            fake.write(path, f"{head} {{\n{body}\n}}\n")
            kernel = Kernel("k")
            kernel.lines = {path: {2: {}}}
            found = speed.double_lines(kernel)
        return found if found is None else [number for _, number in found]

    def test_a_literal_in_an_expression(self):
        for text in ("out[0] = x * 0.1;", "out[0] = 0.5 * x;", "out[0] += x + 1.;", "out[0] = (x) / 2e0 - .5 * x;"):
            self.assertEqual(self.lines_of(text), [2], text)

    def test_a_variable(self):
        self.assertEqual(self.lines_of("double sum = 0;"), [2])

    def test_what_is_no_double(self):
        for text in (
            "out[0] = x * 0.1f;",
            "out[0] = 0.5;",
            "out[0] = x; // x * 0.5",
            "float y = 1.0;",
            "out[1] = x * 2;",
            "out[0] = v.x * 3;",
        ):
            self.assertEqual(self.lines_of(text), [], text)

    def test_a_function_that_the_kernel_calls(self):
        helper = "__device__ float half(float x) { return x * 0.5; }\n__device__ double twice(double x) { return x * 2.0; }\n"
        head = "__global__ void k(float* out, float x)"
        self.assertEqual(self.lines_of("out[0] = half(x);", helper + head), [1])
        self.assertEqual(self.lines_of("out[0] = twice(x);", helper + head), [])
        self.assertEqual(self.lines_of("out[0] = x;", helper + head), [])

    def test_what_is_meant(self):
        self.assertIsNone(self.lines_of("out[0] = x * 0.1;", "__global__ void k(double* out, float x)"))


class Pairs(unittest.TestCase):
    """Which kernel of the one side is held against which of the other."""

    def paired(self, mine, its):
        pairs, left = against.paired([Kernel(name) for name in mine], [Kernel(name) for name in its])
        return [(one.name, other.name) for one, other in pairs], tuple([one.name for one in side] for side in left)

    def test_by_name_and_the_last_two(self):
        self.assertEqual(self.paired(["a", "b"], ["c", "a"]), ([("a", "a"), ("b", "c")], ([], [])))
        self.assertEqual(self.paired(["a", "b"], ["a", "c", "d"]), ([("a", "a")], (["b"], ["c", "d"])))

    def test_the_only_kernel_of_a_rung_goes_with_each_variant_of_the_other(self):
        self.assertEqual(
            self.paired(["tiled<0u>", "tiled<1u>"], ["swizzled"]),
            ([("tiled<0u>", "swizzled"), ("tiled<1u>", "swizzled")], ([], [])),
        )
        self.assertEqual(self.paired(["a"], ["b", "c"]), ([("a", "b"), ("a", "c")], ([], [])))
        self.assertEqual(self.paired(["a", "b"], ["c", "d"]), ([], (["a", "b"], ["c", "d"])))


@unittest.skipUnless((suites.SIMULATOR / "bin" / "simtcc").exists(), "simtcc is not built")
class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All programs in one folder of the build, where what was compiled before is found again."""
        cls.folder = suites.BUILD / "tests" / "speed"
        shutil.copytree(PROGRAMS, cls.folder, dirs_exist_ok=True)
        for name, (other, old, new) in VARIANTS.items():
            text = (cls.folder / f"{other}.cu").read_text(encoding="utf-8")
            assert old in text, (name, old)
            (cls.folder / f"{name}.cu").write_text(text.replace(old, new), encoding="utf-8")

    def explain(self, program, *words, nvcc=True, code=0):
        done = self.explained(program, *words, nvcc=nvcc)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr * (code != 0)

    @classmethod
    @functools.cache  # several tests read the same report
    def explained(cls, program, *words, nvcc):
        env = dict(os.environ) if nvcc else dict(os.environ, CUDACXX="none")
        return fake.real(cls.folder, "explain", program, *words, env=env)

    def first_advice(self, program, nvcc):
        return self.explain(program, nvcc=nvcc).split(ADVICE)[1].split("\n")[0]

    def check(self, causes, nvcc):
        for name, phrases in causes.items():
            with self.subTest(name):
                text = self.explain(name + ".cu", nvcc=nvcc)
                self.assertIn(ADVICE, text)
                first = text.split(ADVICE)[1].split("\n")[0]
                for phrase in phrases:
                    self.assertIn(phrase, first)
                self.assertNotIn("Nothing to improve", text)
            with self.subTest(name + "_right"):
                text = self.explain(name + "_right.cu", nvcc=nvcc)
                self.assertNotIn(ADVICE, text)
                self.assertRegex(text, "Nothing to improve|lanes are what the bytes need, and the memory takes")

    def test_the_first_advice_names_the_cause_without_nvcc(self):
        self.check(CAUSES, nvcc=False)

    def test_the_first_advice_names_the_cause_with_nvcc(self):
        if speed.NO_MACHINE_CODE in self.explain("one_warp.cu"):
            self.skipTest("no nvcc or no nvdisasm")
        self.check({**CAUSES, **COMPILED_CAUSES}, nvcc=True)

    def test_a_grid_of_a_tenth_of_the_sms_is_too_small(self):
        self.assertIn("The 12 blocks keep 12 of 132 SMs busy", self.first_advice("tenth_of_a_grid.cu", nvcc=False))

    def test_of_few_blocks_and_a_stride_the_costlier_is_first(self):
        text = self.explain("chunks_of_few_blocks.cu", nvcc=False)
        self.assertIn("takes 31.2 sectors where 3.9 would do", self.first_advice("chunks_of_few_blocks.cu", nvcc=False))
        self.assertIn("The 24 blocks keep 24 of 132 SMs busy", text.split(ADVICE)[1])

    def test_a_little_arithmetic_in_double_is_told_last(self):
        for nvcc in (False, True):
            text = self.explain("stride_and_double.cu", nvcc=nvcc)
            self.assertIn("takes 32.0 sectors where 4.0 would do", self.first_advice("stride_and_double.cu", nvcc))
            self.assertIn("in double, though no parameter is one", text.split(ADVICE)[1])

    def test_a_branch_that_only_the_machine_code_can_weigh_is_named_without_nvcc(self):
        text = " ".join(self.explain("parted.cu", nvcc=False).split())
        self.assertRegex(text, r"The branch near parted\.cu:\d+ parts the lanes of a warp 625 times: they go both ways")
        self.assertNotIn("The branch near", self.explain("parted_right.cu", nvcc=False))

    def test_the_bound_of_a_gpu(self):
        text = self.explain("one_block_right.cu", "--gpu", "rtx3060", nvcc=False)
        self.assertIn("on an RTX 3060, bound by DRAM; a bound, not a measurement.", text)
        self.assertIn("400 KB at 360 GB/s; 400 KB more may stay in L2", text)
        warm = "Where an earlier launch has left 400 KB of it in L2, the bound is 126 ns, by L1."
        self.assertIn("What is read is taken to come from DRAM. " + warm, text)
        self.assertIn("Grid: 391 blocks of 8 warps on 28 SMs; an SM has room for at most 6 (threads): 2.3 waves.", text)
        self.assertIn(speed.NO_MACHINE_CODE, text)

    def test_a_sample_has_no_bound(self):
        text = self.explain("one_warp.cu", "--blocks", "8", nvcc=False)
        self.assertIn("No bound: only a sample of the blocks was counted.", text)
        self.assertNotIn("At least", text)

    def test_a_gpu_that_is_not_in_the_table(self):
        text = self.explain("one_block.cu", "--gpu", "H300", code=2)
        self.assertIn("--gpu H300: there is no such GPU in the table; did you mean H", text)

    def test_two_programs_side_by_side(self):
        """What --against names is what was before."""
        text = self.explain("conflicts_right.cu", "--against", "conflicts.cu", nvcc=False)
        self.assertIn("conflicts_right.cu against conflicts.cu, on an H200", text)
        self.assertRegex(text, r"\n +conflicts\.cu +conflicts_right\.cu\n")
        self.assertRegex(text, r"shared wavefronts +67,584 +4,096, 16\.5 times fewer")
        self.assertRegex(text, r"at least +900 ns +900 ns\n")
        self.assertIn("- conflicts.cu:5  __shared__ float tile[32][32];", text)
        self.assertIn("+ conflicts_right.cu:5  __shared__ float tile[32][33];", text)
        self.assertIn("65,536 wavefronts, 32.0 times the ideal", text)
        text = self.explain("tiny_grid_right.cu", "--against", "tiny_grid.cu", nvcc=False)
        self.assertRegex(text, r"without the launch +789 ns +465 ns, 1\.7 times lower")
        self.assertIn("The lines of both kernels are the same", text)

    def test_times_of_the_simulator_are_told_as_such(self):
        plain = (self.folder / "one_warp.cu").read_text(encoding="utf-8")
        timed = "float since(cudaEvent_t a, cudaEvent_t b) { float t = 0; cudaEventElapsedTime(&t, a, b); return t; }"
        for name, line, is_told in (("timed", timed, True), ("untimed", "// " + timed, False)):
            (self.folder / f"{name}.cu").write_text(plain + line + "\n", encoding="utf-8")
            text = self.explain(name + ".cu", nvcc=False)
            self.assertEqual("The times of cudaEventElapsedTime() are those of the simulator" in text, is_told, text)

    def test_the_line_of_a_double_is_named_from_any_folder(self):
        if speed.NO_MACHINE_CODE in self.explain("one_warp.cu"):
            self.skipTest("no nvcc or no nvdisasm")
        self.assertRegex(
            self.explain("double.cu"), r"\n +double\.cu:\d+  [\d,]+ instructions of warps compute in double"
        )

    def test_what_cannot_be_compared(self):
        for words, said in (
            (("one_block.cu", "--against", "nothing.cu"), "there is no file nothing.cu"),
            (("one_block.cu", "--against", "one_warp.cu", "--json"), "it goes with no --json"),
            (("06", "--against", "tiled"), "of a chapter two rungs are compared"),
            (("06", "--rung", "tiled", "--against", "tilted"), "unknown rung 'tilted'"),
        ):
            self.assertIn(said, self.explain(*words, code=2))

    def test_trace_and_page_have_the_bound(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, page = os.path.join(folder, "trace.json"), os.path.join(folder, "page.html")
            self.explain("one_block.cu", "--json", trace, "--html", page, nvcc=False)
            (launch,) = fake.load(trace)["launches"]
            text = fake.read(page)
        self.assertEqual(launch["bound"]["gpu"], "H200")
        self.assertEqual(launch["bound"]["resource"], bounds.L1)
        self.assertAlmostEqual(launch["bound"]["seconds"], 800_000 / 128 / 1.98e9)
        self.assertIn("How fast could it be?", text)
        self.assertIn("At least 3.16 us on an H200, bound by L1", text)

    def test_asynchronous_copies_of_the_machine_code_count_as_those_of_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            if speed.NO_MACHINE_CODE in self.explain("copies.cu", "--json", trace):
                self.skipTest("no nvcc or no nvdisasm")
            launches = fake.load(trace)["launches"]
        for launch in launches:
            compiled = launch["compiled"]["counts"]
            self.assertEqual(
                {name: compiled.get(name, 0) for name in launch["counts"]}, launch["counts"], launch["kernel"]
            )

    def test_what_a_launch_touches(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            for program, read, written, atomics in (
                ("one_warp", 12_500, 12_500, None),
                ("stride", 12_500, 12_500, None),
                ("conflicts", 8_192, 8_192, None),
                ("atomics", 12_500, 1, 100_000),
            ):
                self.explain(program + ".cu", "--json", trace, nvcc=False)
                (launch,) = fake.load(trace)["launches"]
                found = (launch["global_sectors_read_distinct"], launch["global_sectors_written_distinct"])
                self.assertEqual(found, (read, written), program)
                self.assertEqual(launch.get("global_atomics_on_one_word"), atomics, program)
