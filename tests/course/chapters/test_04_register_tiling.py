"""Chapter 04 on the simulator: what it prints, what it counts, and what it refuses; what nvcc makes of it. The numbers
of its prose are bound in the source, and py.course holds them against what they are computed from."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import CUOBJDUMP, NVCC, ROOT, Chapter, Mutant, Run, nvcc_is_the_one_of_the_text, site_results

from warp.chapter import header as course_header

CHAPTER = Chapter("04_register_tiling")
HEADER = course_header.read(CHAPTER.source)

LADDER = ("wide_reads", "thread_tile_1d", "thread_tile_2d", "thread_tile_float4")
PRODUCTS = {*LADDER, "k_tile_depth", "launch_bounds", "unroll_steps"}
M, N, K = (int(extent) for extent in HEADER.sizes["simulator"].split(","))


def up(a, b):
    return -(-a // b)


def fmas(tile, depth):
    """Warp-wide FMAs of tiles of tile x tile elements and K-tiles that deep, whatever sticks out."""
    return up(M, tile) * up(N, tile) * tile * tile * up(K, depth) * depth // 32


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def counts(self, rung, variant=None):
        return self.run_.row(rung, variant)["counts"]

    def expect(self, rung, variant=None, **counts):
        for name, value in counts.items():
            self.assertEqual(self.counts(rung, variant)[name], value, f"{rung} {variant or ''}: {name}")

    def test_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_.explain())
        for row in self.run_.rows:
            self.assertEqual(row["status"], "SKIP" if row["rung"] == "cublas" else "PASS", row)
            self.assertEqual(row["size"], {"M": M, "N": N, "K": K})
        self.assertIn("needs a GPU", self.run_.row("cublas")["reason"])

    def test_the_default_size_fills_no_tile(self):
        for extent, tile in ((M, 32), (N, 32), (K, 8)):
            self.assertNotEqual(extent % tile, 0)
        self.assertEqual((N % 4, K % 4), (0, 0))  # so that rows are aligned

    def test_the_first_kernel_is_the_last_of_chapter_03(self):
        kernel = r"__global__ void __launch_bounds__\(1024\)\s+wide_reads\(.*?\n}\n"
        before = CHAPTER.source.parents[1] / "03_shared_tiling" / "shared_tiling.cu"
        theirs, ours = (re.search(kernel, source.read_text(), re.DOTALL) for source in (before, CHAPTER.source))
        self.assertEqual(theirs.group(0), ours.group(0))

    def test_every_rung_of_the_header_is_there_in_order(self):
        self.assertEqual(list(dict.fromkeys(row["rung"] for row in self.run_.rows)), list(HEADER.rungs))

    def test_wavefronts_of_an_fma(self):
        self.assertEqual((fmas(32, 32), fmas(64, 8), fmas(128, 8)), (57344, 65536, 65536))  # as the text says
        for rung, variant, work, loads, wavefronts in (
            ("wide_reads", None, fmas(32, 32), 5 / 4, 6 / 4),
            ("thread_tile_1d", None, fmas(64, 8), 12 / 32, 20 / 32),
            ("thread_tile_2d", None, fmas(128, 8), 16 / 256, 80 / 256),
            ("thread_tile_float4", None, fmas(128, 8), 16 / 256, 80 / 256),
            ("k_tile_depth", "BK=16", fmas(128, 16), 16 / 256, 80 / 256),
            ("k_tile_depth", "BK=32", fmas(128, 32), 16 / 256, 80 / 256),
        ):
            self.expect(rung, variant, shared_load_requests=work * loads, shared_load_wavefronts=work * wavefronts)

    def test_a_load_of_a_takes_two_wavefronts_and_one_of_b_eight(self):
        trace = CHAPTER.trace("--rung", "thread_tile_2d")
        lines = CHAPTER.source.read_text().splitlines()
        per_load = {}
        for entry in trace["launches"][0]["lines"]:
            counts, text = entry["counts"], lines[entry["line"] - 1]
            if counts.get("shared_load_requests"):
                per_load["A" if "a_tile" in text else "B"] = (
                    counts["shared_load_wavefronts"] / counts["shared_load_requests"]
                )
        self.assertEqual(per_load, {"A": 2, "B": 8})

    def test_global_memory(self):
        """Each element of A is read ceil(N / BN) times, each of B ceil(M / BM) times."""
        for rung, variant, tile in (
            ("wide_reads", None, 32),
            ("thread_tile_1d", None, 64),
            ("thread_tile_2d", None, 128),
            ("thread_tile_float4", None, 128),
            ("k_tile_depth", "BK=16", 128),
            ("k_tile_depth", "BK=32", 128),
        ):
            self.expect(rung, variant, global_load_bytes=4 * (M * K * up(N, tile) + K * N * up(M, tile)))

    def test_the_bytes_of_another_size(self):
        """The site's roofline takes them from this run's counts."""
        size = {"M": 128, "N": 384, "K": 512}
        small = CHAPTER.run("--size", "256,128,64", *(f"--rung={rung}" for rung in LADDER))
        run = CHAPTER.run("--size", ",".join(map(str, size.values())), *(f"--rung={rung}" for rung in LADDER))
        for rung in LADDER:
            counts = run.row(rung)["counts"]
            self.assertEqual(
                site_results.product_bytes(small.row(rung), size),
                32 * (counts["global_load_sectors"] + counts["global_store_sectors"]),
                rung,
            )

    def test_rows_that_are_not_aligned(self):
        """Where rows are not aligned, a float4 is four loads of one float each."""
        run = CHAPTER.run("--size", "256,127,64", "--rung", "thread_tile_float4")
        counts = run.row("thread_tile_float4")["counts"]
        self.assertEqual((counts["global_load_requests"], counts["global_store_requests"]), (640, 1024))

    def test_unrolling_changes_no_count(self):
        first, *others = [row["counts"] for row in self.run_.rows if row["rung"] == "unroll_steps"]
        self.assertEqual(len(others), 3)
        for other in others:
            self.assertEqual(
                {k: v for k, v in first.items() if "divergent" not in k},
                {k: v for k, v in other.items() if "divergent" not in k},
            )

    def test_bounds_change_no_count(self):
        bounds = [row for row in self.run_.rows if row["rung"] == "launch_bounds"]
        self.assertEqual(len(bounds), 4)
        for row in bounds:
            self.assertEqual(row["counts"], self.counts("thread_tile_float4"), row["variant"])

    def test_the_map(self):
        out = self.run_.out
        for line in (
            "A's tile, row   9:  18  19",
            "B's tile, row   7: 224 225",
            "C's squares, row   1:  16  17  18  19",
        ):
            self.assertIn(line, out)

    def test_thread_18(self):
        """The drawing follows it, from the addresses of the trace; the text says the same."""
        _, drawing, _ = CHAPTER.drawings()["places"]
        for words in ("(9, 0) to (9, 3)", "(0, 72) to (0, 75)", "rows 8 to 15 of A's tile", "columns 16 to 23 of B's"):
            self.assertIn(words, drawing.alt)
        prose = CHAPTER.prose()
        for words in (
            "elements (9, 0) to (9, 3)",
            "elements (0, 72) to (0, 75)",
            "rows 8 to 15 of A's tile and columns 16 to 23",
        ):
            self.assertIn(words, prose)


class Cases(unittest.TestCase):
    """Every rung is right for every pair of extents."""

    def passes(self, run, count, rungs=PRODUCTS):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual({row["rung"] for row in run.rows if row["status"] == "PASS"}, set(rungs))
        for row in run.rows:
            if row["status"] != "SKIP":
                self.assertEqual(row["reason"], f"{count} cases")

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)

    def test_a_dozen_traced(self):
        rungs = [argument for rung in LADDER for argument in ("--rung", rung)]
        self.passes(CHAPTER.run("--cases", "0-11", *rungs), 12, LADDER)
        # Case 144 on has alpha = 0.
        self.passes(
            CHAPTER.run("--cases", "144-145", "--rung", "k_tile_depth", "--rung", "unroll_steps"),
            2,
            ("k_tile_depth", "unroll_steps"),
        )

    def test_more_rows_than_a_grid_has_blocks(self):
        # 65,535 blocks of 64 rows, and one row more.
        run = Run(CHAPTER.fast, "--size", f"{65535 * 64 + 1},1,2", "--rung", "thread_tile_1d")
        self.assertEqual(run.code, 0, run.explain())


# (rung, text, what it becomes, what the rung then says): one program has the n-th of each rung. Case 0 is a row of one
# block, case 1 has gaps and odd extents, case 2 NaN in C and rows of B that are not aligned, case 4 rows of C that are
# aligned, with a gap; behind the C of case 6 a page ends.
MUTANTS = [
    ("wide_reads", "rowC >= m || colC >= n", "rowC >= m", "case 1 .*: 31 of 66 elements"),
    ("thread_tile_1d", "row0 + rowC + i >= m ||", "row0 + rowC >= m ||", "case 6 .*out-of-bounds"),
    ("thread_tile_2d", "col0 + colC + j < n)", "col0 + colC < n)", "case .*"),
    ("thread_tile_float4", "n - col0 - colC - j", "4", "case .*"),
    ("unroll_steps", "a_frag[i] * b_frag[j]", "a_frag[j] * b_frag[i]", "case 0 .*: 28 of 32"),  # TM for TN
    ("wide_reads", "k0 += T", "k0 += T + 1", "case 1 .*: 66 of 66"),  # the stride of the K-tiles
    ("thread_tile_1d", "a_tile[rowC + i][l]", "a_tile[rowC + i][0]", "case 0 .*: 32 of 32"),
    ("thread_tile_2d", "t / ACROSS * TM", "t % ACROSS * TM", "case 0 .*: 32 of 32"),
    ("thread_tile_float4", "a_tile[rowA + i * stepA][colA]) =", "a_tile[rowA ^ 1][colA]) =", "case 0 .*: 32 of 32"),
    ("unroll_steps", "b_tile[l][colC + j]", "b_tile[l][colC + TN - 1 - j]", "case 0 .*: 32 of 32"),
    ("wide_reads", "b_tile[l + 3][tx]", "b_tile[l + 2][tx]", "case 0 .*: 32 of 32"),
    ("thread_tile_1d", "+ beta * out", "+ out", "case 0 .*: 32 of 32"),
    ("thread_tile_2d", "from_b += size_t(BK) * ldb", "from_b += size_t(BK) * n", "case 1 .*: 66 of 66"),
    ("thread_tile_float4", "if (row0 + rowC + i >= m) break;", "", "case .*"),
    ("unroll_steps", "acc[i][j], beta", "acc[i][j], 0.0f", "case 0 .*: 32 of 32"),
    ("thread_tile_1d", "(row0 + rowC + i) * ldc", "(row0 + rowC + i) * n", "case 4 .*the first at index 129"),
    ("thread_tile_2d", "row0 + rowC + i) * ldc", "row0 + rowC) * ldc", "case 1 .*: 66 of 66"),
    ("thread_tile_float4", "k_left - colA", "4", "case .*"),  # the ends of A's rows
    ("unroll_steps", "a_tile[rowA + i * stepA]", "a_tile[rowA]", "case 0 .*: 32 of 32"),
]

# (rung, text, what it becomes, what the simulator finds)
TRACED = [
    ("thread_tile_1d", "__syncthreads();", "", "shared-race"),
    ("thread_tile_2d", "rowC, colC);\n    __syncthreads();", "rowC, colC);", "shared-race"),
    ("thread_tile_float4", "aligned_b = lab::aligned16(b, ldb)", "aligned_b = true", "misaligned-access"),
    ("unroll_steps", "inside = row0 + rowA + i * stepA < m &&", "inside =", "out-of-bounds"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails; the same kernel without it passes."""

    def test_every_mistake_is_noticed(self):
        rungs = {}
        for rung, *mutant in MUTANTS:
            rungs.setdefault(rung, []).append(mutant)  # [text, what it becomes, what the rung says]
        for number in range(max(map(len, rungs.values()))):
            mutants = {rung: those[number] for rung, those in rungs.items() if number < len(those)}
            with Mutant(CHAPTER, [(rung, *mutant[:2]) for rung, mutant in mutants.items()]) as program:
                for rung in rungs:
                    run = program.run("--rung", rung, "--cases", "0-23")
                    with self.subTest(rung=rung, mutant=mutants.get(rung)):
                        self.assertEqual(run.code, 1 if rung in mutants else 0, run.explain())
                        if rung in mutants:
                            self.assertEqual(run.rows[0]["status"], "FAIL")
                            self.assertRegex(run.rows[0]["reason"], mutants[rung][2])

    def test_what_the_simulator_finds(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in TRACED], traced=True) as program:
            for rung, *mutant, finding in TRACED:
                run = program.run("--rung", rung, "--cases", "0-11")
                with self.subTest(rung=rung, mutant=mutant):
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn(finding, run.out)


class Arguments(unittest.TestCase):
    def test_list_is_the_header(self):
        run = CHAPTER.run("--list", results=False)
        listed = [tuple(line.split(None, 1)) for line in run.out.splitlines()]
        self.assertEqual(listed, [(rung.name, rung.idea) for rung in HEADER.rungs.values()])

    def test_each_rung_alone_at_any_size(self):
        for rung in HEADER.rungs:
            with self.subTest(rung=rung):
                run = CHAPTER.run("--rung", rung, "--size", "33,5,13")
                self.assertEqual(run.code, 0, run.explain())
                self.assertEqual({row["rung"] for row in run.rows}, {rung})

    def test_bad_input(self):
        for arguments in (
            ["--size", "5"],
            ["--size", "0,1,1"],
            ["--size", "1,1,2147483648"],
            ["--cases", "153"],
            ["--rung", "thread_tile_3d"],
        ):
            with self.subTest(arguments=arguments):
                run = CHAPTER.run(*arguments, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    """What nvcc makes of the kernels: the tables of sections 3, 6 and 7."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cubin = pathlib.Path(cls.folder.name) / "chapter.cubin"
        done = subprocess.run(
            [
                NVCC,
                "-std=c++20",
                "--extended-lambda",
                "-O3",
                "-lineinfo",
                "-arch=sm_90a",
                "-cubin",
                "-Xptxas",
                "-v",
                f"-I{ROOT}/common/lab/include",
                "-o",
                cls.cubin,
                CHAPTER.source,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        # kernel -> registers, bytes of the frame, of spilled stores
        cls.made = {}
        for entry in done.stderr.split("Compiling entry function '")[1:]:
            cls.made[cls.readable(entry.split("'")[0])] = tuple(
                int(re.search(pattern, entry).group(1))
                for pattern in (r"Used (\d+) registers", r"(\d+) bytes stack frame", r"(\d+) bytes spill stores")
            )
        cls.prose = CHAPTER.prose()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def readable(mangled):
        """_Z12unroll_stepsILi8ELi1EEv... -> unroll_steps 8 1"""
        match = re.match(r"_Z(\d+)", mangled)
        name = mangled[match.end() : match.end() + int(match.group(1))] if match else mangled
        numbers = re.match(r"I((?:Li\d+E)+)E", mangled[match.end() + len(name) :]) if match else None
        return " ".join([name, *(re.findall(r"Li(\d+)E", numbers.group(1)) if numbers else [])])

    def functions(self):
        """kernel -> its instructions: (address, predicate, name, operands)."""
        text = subprocess.run([CUOBJDUMP, "-sass", self.cubin], capture_output=True, text=True, check=True).stdout
        pattern = r"/\*([0-9a-f]{4,5})\*/\s+(@!?U?P\d+ )?\s*([A-Z][\w.]*)([^;]*);"
        return {
            self.readable(function.split()[0]): [(int(at, 16), *rest) for at, *rest in re.findall(pattern, function)]
            for function in text.split("Function : ")[1:]
        }

    @staticmethod
    def target(instruction):
        """The address that an instruction may jump to, or None."""
        found = re.search(r"0x([0-9a-f]+)", instruction[3]) if instruction[2] == "BRA" else None
        return int(found.group(1), 16) if found else None

    @staticmethod
    def barriers(code):
        return [number for number, instruction in enumerate(code) if instruction[2].startswith("BAR")]

    def k_tile_of(self, code):
        """What a warp executes for a K-tile: the shortest way round the loop that has both barriers. Where there are
        two ways to fetch, that is the one without the ends of rows."""
        number = {instruction[0]: at for at, instruction in enumerate(code)}
        first, last = self.barriers(code)
        end = next(
            at for at in range(last, len(code)) if (to := self.target(code[at])) is not None and number[to] < first
        )
        head = number[self.target(code[end])]
        before, queue = {head: None}, [head]
        for at in queue:
            _, predicate, name, operands = code[at]
            nexts = [] if name in ("BRA", "EXIT") and not predicate and "P" not in operands else [at + 1]
            if self.target(code[at]) is not None:
                nexts.append(number[self.target(code[at])])
            for to in nexts:
                if to not in before:
                    before[to] = at
                    queue.append(to)
        way = [end]
        while before[way[-1]] is not None:
            way.append(before[way[-1]])
        return [code[at] for at in reversed(way)]

    def test_registers(self):
        for kernel in (
            "thread_tile_2d",
            "thread_tile_float4 8 2",
            "thread_tile_float4 16 2",
            "thread_tile_float4 32 2",
        ):
            registers, frame, spilled = self.made[kernel]
            self.assertLessEqual(registers, 128, kernel)  # or one block would be alone on its SM
            self.assertEqual((frame, spilled), (0, 0), kernel)
        for kernel, label in (
            ("1 1", "nothing"),
            ("1 8", "the tile"),
            ("2 8", "the tile, 2 steps"),
            ("8 8", "the tile, 8 steps"),
        ):
            registers, frame, spilled = self.made[f"unroll_steps {kernel}"]
            self.assertEqual(spilled, 0)
            row = re.search(rf"\| {label} \| (\d+) \| (\d+)", self.prose)
            self.assertEqual((registers, frame), (int(row.group(1)), int(row.group(2))), label)
        for blocks in range(1, 5):
            registers, _, spilled = self.made[f"thread_tile_float4 8 {blocks}"]
            row = re.search(rf"\| {blocks} \| (\d+) \| (\d+) \| \d+ \| \d+ \| \d+ \|", self.prose)
            self.assertEqual((registers, spilled), (int(row.group(1)), int(row.group(2))), blocks)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_same_work_in_another_order(self):
        """What section 7 says of thread_tile_2d and its twin."""
        functions = self.functions()
        tile, twin = self.k_tile_of(functions["thread_tile_2d"]), self.k_tile_of(functions["unroll_steps 8 8"])
        for code in (tile, twin):
            names = [name for _, _, name, _ in code]
            self.assertEqual((names.count("FFMA"), names.count("LDS.128")), (512, 32))
        self.assertNotEqual([rest for _, *rest in tile], [rest for _, *rest in twin])

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_loads_do_not_wait_for_each_other(self):
        """All loads of a K-tile are issued before the first store to shared memory, without a jump in between but for
        the two ways to load a float4."""
        functions = self.functions()
        for kernel, loads in (
            ("thread_tile_1d", 2),
            ("thread_tile_2d", 8),
            ("thread_tile_float4 8 2", 2),
            ("thread_tile_float4 16 2", 4),
            ("thread_tile_float4 32 2", 8),
            ("unroll_steps 8 8", 8),
        ):
            names = [name for _, _, name, _ in self.k_tile_of(functions[kernel])]
            kinds = [name[:3] for name in names if name.startswith(("LDG", "STS"))]
            self.assertEqual(kinds, ["LDG"] * loads + ["STS"] * loads, kernel)
            if kernel in LADDER[:3]:
                self.assertEqual([name for name in names if name.startswith(("BRA", "BSSY"))], ["BRA"], kernel)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_inner_loops(self):
        functions = self.functions()
        tile = functions["thread_tile_2d"]
        first, last = self.barriers(tile)
        self.assertEqual(
            [
                sum(name.startswith(what) for _, _, name, _ in tile[first + 1 : last])
                for what in ("", "FFMA", "LDS.128")
            ],
            [551, 512, 32],
        )
        first, last = self.barriers(functions["unroll_steps 8 8"])
        self.assertIn(f"| {last - first - 1}, and no loop | 512 |", self.prose)
        for kernel, label in (("1 1", "nothing"), ("1 8", "the tile"), ("2 8", "the tile, 2 steps")):
            code = functions[f"unroll_steps {kernel}"]
            number = {instruction[0]: at for at, instruction in enumerate(code)}
            first, last = self.barriers(code)
            bodies = [
                code[number[to] : at + 1]
                for at in range(first, last)
                if (to := self.target(code[at])) is not None and first < number[to] < at
            ]
            innermost = min((body for body in bodies if any(name == "FFMA" for _, _, name, _ in body)), key=len)
            multiplied = sum(name == "FFMA" for _, _, name, _ in innermost)
            self.assertRegex(self.prose, rf"\| {label} \| \d+ \| [\w ]+ \| {len(innermost)} \| {multiplied} \|")


class Hardware(unittest.TestCase):
    """What was recorded on an H200."""

    def test_counts_are_the_simulators_or_explained(self):
        found = CHAPTER.disagreements()
        if found is None:
            self.skipTest("no counts of an H200 are recorded")
        self.assertEqual(found, [], "\n".join(found))


if __name__ == "__main__":
    unittest.main()
