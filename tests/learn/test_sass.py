"""./learn sass: what it reads in machine code, how it computes, what it prints and refuses."""

import json
import os
import shutil
import tempfile
import types
import unittest

import fake

from warp.base import ui
from warp.base.machine import Machine
from warp.chapter import recorded
from warp.explain import lines, page, problems, sarif
from warp.explain import report as explained
from warp.machinecode import code, disassembly, flow, image, kinds, occupancy, registers, report, tools
from warp.trace import execution, trace
from warp.trace.model import Example, Launch, Trace

MACHINE = Machine()
HERE = bool(MACHINE.nvcc() and tools.find(MACHINE, "nvdisasm"))

# Two kernels as nvdisasm -gi -c -hex prints them, most instructions taken out.
NVDISASM = """\
.text._Z4loopPf:
	//## File "/k.cu", line 2
        /*0000*/                   LDC R1, c[0x0][0x28] ;                      /* 0x00000a00ff017b82 */
                                                                               /* 0x000fe20000000800 */
	//## File "/v.h", line 7 inlined at "/u.h", line 5
	//## File "/u.h", line 5 inlined at "/k.cu", line 3
	//## File "/k.cu", line 3
.L_x_0:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;   /* 0x0000000602047981 */
                                                                               /* 0x000ee2000c1e9d00 */
        /*0020*/               @P1 BRA `(.L_x_1) ;                             /* 0x0000000000241947 */
                                                                               /* 0x000fea0003800000 */
	//## File "/k.cu", line 4
.L_x_2:
        /*0030*/                   FFMA R8, R5.reuse, 1.5, R8 ;                /* 0x3fc0000005087823 */
                                                                               /* 0x041fe20000000008 */
        /*0040*/              @!P0 BRA `(.L_x_2) ;                             /* 0x0000000000241947 */
                                                                               /* 0x000fea0003800000 */
        /*0050*/              @!PT LDS RZ, [RZ] ;                              /* 0x0000000000241947 */
                                                                               /* 0x000fea0003800000 */
        /*0060*/                   BRA `(.L_x_0) ;                             /* 0x0000000000241947 */
                                                                               /* 0x000fea0003800000 */
.L_x_1:
        /*0070*/                   EXIT ;                                      /* 0x000000000000794d */
                                                                               /* 0x000fea0003800000 */
.L_x_3:
        /*0080*/                   BRA `(.L_x_3);                              /* 0xfffffffc00fc7947 */
                                                                               /* 0x000fc0000383ffff */
        /*0090*/                   NOP;                                        /* 0x0000000000007918 */
                                                                               /* 0x000fc00000000000 */
.text._Z3onePf:
	//## File "/k.cu", line 9
        /*0000*/                   EXIT ;                                      /* 0x000000000000794d */
                                                                               /* 0x000fea0003800000 */
"""

CUOBJDUMP = """\
		Function : _Z3onePf
        /*0000*/                   STG.E.64 desc[UR4][R2.64], R4 ;  /* 0x0000000402007986 */
                                                                    /* 0x000fe2000c101b04 */
        /*0010*/              @!P0 BRA 0x0 ;                        /* 0x0000000000241947 */
                                                                    /* 0x000fea0003800000 */
        /*0020*/                   MOV R3, 0x10 ;                   /* 0x0000000000241947 */
                                                                    /* 0x000fea0003800000 */
"""

SOURCE = """\
#include <cuda_runtime.h>

__global__ void scalar(float* b, const float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}

template <int N>
__global__ void vectors(float4* b, const float4* a, int n) {
  for (int i = threadIdx.x; i < n; i += N) {
    b[i] = a[i];
  }
}
template __global__ void vectors<256>(float4*, const float4*, int);

int main() {}
"""


class Disassembly(unittest.TestCase):
    def setUp(self):
        self.loop, self.one = disassembly.parse(NVDISASM)

    def test_remarks_of_newer_disassemblers_are_left_out(self):
        made = disassembly.instruction_of(0, '@P0 LDL.LU R11, [R1+0xd8] (*"SpillRefill"*)')
        self.assertEqual((made.predicate, made.opcode, made.operands), ("@P0", "LDL", "R11, [R1+0xd8]"))

    def test_instructions(self):
        load = self.loop.instructions[1]
        self.assertEqual((load.address, load.opcode, load.modifiers), (0x10, "LDG", ["E", "128", "CONSTANT"]))
        self.assertEqual(load.text, "LDG.E.128.CONSTANT R4, desc[UR6][R2.64]")
        self.assertEqual([one.opcode for one in self.one.instructions], ["EXIT"])
        self.assertEqual(self.loop.instructions[2].predicate, "@P1")

    def test_lines_with_the_chain_of_inlined_calls(self):
        load = self.loop.instructions[1]
        self.assertEqual(load.places, (("/v.h", 7), ("/u.h", 5), ("/k.cu", 3)))
        self.assertEqual((load.file, load.line), ("/k.cu", 3))
        self.assertEqual(self.loop.instructions[3].places, (("/k.cu", 4),))
        self.assertEqual(self.one.instructions[0].line, 9)

    def test_targets_are_addresses(self):
        self.assertEqual(
            [one.target for one in self.loop.instructions if one.opcode == "BRA"], [0x70, 0x30, 0x10, 0x80]
        )
        self.assertEqual(self.loop.instructions[2].operands, "0x70")

    def test_padding_is_left_out(self):
        self.assertEqual(self.loop.live[-1].opcode, "EXIT")
        self.assertEqual(len(self.loop.live), 8)

    def test_cuobjdump_reads_the_same_way(self):
        (one,) = disassembly.parse(CUOBJDUMP)
        store, branch, move = one.instructions
        self.assertEqual((one.symbol, store.name), ("_Z3onePf", "STG.E.64"))
        self.assertEqual(branch.target, 0)
        self.assertIsNone(move.target)  # its 0x10 is an operand

    def test_control(self):
        load, multiply = self.loop.instructions[1], self.loop.instructions[3]
        self.assertEqual((load.control.stall, load.control.write_barrier), (1, 3))
        self.assertEqual((multiply.control.waits, multiply.control.reuse), (1, 1))
        self.assertEqual("reuse" in multiply.operands, multiply.control.reuse == 1)


class Flow(unittest.TestCase):
    def test_nested_loops(self):
        loop, _ = disassembly.parse(NVDISASM)
        outer, inner = flow.loops_of(loop)
        self.assertEqual(
            [(one.header, one.last, one.depth) for one in (outer, inner)], [(0x10, 0x60, 1), (0x30, 0x40, 2)]
        )
        self.assertEqual((outer.innermost, inner.innermost), (False, True))
        self.assertIs(flow.inner_loop([outer, inner]), inner)

    def test_a_loop_that_is_never_reached_is_none(self):
        _, one = disassembly.parse(NVDISASM)
        self.assertEqual(flow.loops_of(one), [])
        self.assertIsNone(flow.inner_loop([]))

    def test_an_iteration_of_a_full_tile(self):
        """A loop whose tile is fetched at once, or at an edge float by float, or, after the last, not at all."""
        rows = [
            "@P0 BRA 0x70",  # no tile is left
            "@P1 BRA 0x40",
            "LDGSTS.E.128 [R2], [R4.64]",
            "BRA 0x70",
            "LDGSTS.E [R2], [R4.64]",  # the edge, a loop of its own
            "STS [R2], RZ",
            "@P2 BRA 0x40",
            "FFMA R0, R1, R2, R0",
            "FFMA R3, R1, R2, R3",
            "@P3 BRA 0x0",
            "FFMA R0, R1, R2, R0",  # after the loop
            "EXIT",
        ]
        made = [disassembly.instruction_of(16 * at, row) for at, row in enumerate(rows)]
        for one in made:
            one.target = int(one.operands, 16) if one.opcode == "BRA" else None
        kernel = disassembly.Kernel("one", made)

        def of(opcode):
            way = flow.iteration(kernel, flow.loops_of(kernel), opcode, recorded.bits)
            return [made.index(one) for one in way]

        self.assertEqual(of("FFMA"), [0, 1, 2, 3, 7, 8, 9])
        self.assertEqual(of("HMMA"), [])
        made[2].modifiers = ()  # as little as the edge moves: the edge is a loop all the same
        self.assertEqual(of("FFMA"), [0, 1, 2, 3, 7, 8, 9])

    def test_a_predicate_among_the_operands_lets_it_go_on(self):
        rows = ["@P0 EXIT", "BRA.U UP0, 0x40", "FADD R0, R0, R0", "BRA 0x0", "EXIT"]
        made = [disassembly.instruction_of(16 * at, row) for at, row in enumerate(rows)]
        made[1].target, made[3].target = 0x40, 0x0
        firsts, successors = flow.blocks_of(made)
        self.assertEqual(firsts, [0, 1, 2, 4])
        self.assertEqual(successors, [[1], [2, 3], [0], []])


class Registers(unittest.TestCase):
    """What FFMAs read of two banks, worked out by hand."""

    def of(self, *rows):
        return registers.reads([disassembly.instruction_of(16 * at, row) for at, row in enumerate(rows)])

    def test_operands(self):
        one = disassembly.instruction_of(0, "FFMA R8, -R5.reuse, |R3|, -R8")
        self.assertEqual(registers.operands(one), [(5, True), (3, False), (8, False)])
        constants = disassembly.instruction_of(0, "FFMA R8, R5, c[0x0][0x210], RZ")
        self.assertEqual(registers.operands(constants), [(5, False), (None, False), (None, False)])

    def test_a_register_that_is_kept_is_not_read_again(self):
        found = self.of(
            "FFMA R1, R4.reuse, R6, R1", "IADD3 R2, R2, 1, RZ", "FFMA R3, R4, R8, R3", "FFMA R5, R4, R10, R5"
        )
        self.assertEqual((found.ffmas, found.flags, found.registers, found.three), (3, 1, 8, 2))

    def test_each_operand_keeps_one_of_each_bank(self):
        rows = ["FFMA R1, R4.reuse, R6, R1", "FFMA R3, R5.reuse, R8, R3", "FFMA R1, R4, R6, R1", "FFMA R3, R5, R8, R3"]
        self.assertEqual(self.of(*rows).registers, 4 * 3 - 2)
        rows[1] = "FFMA R3, R12, R8, R3"  # takes the place of R4
        self.assertEqual(self.of(*rows).registers, 4 * 3)
        other = self.of("FFMA R1, R4.reuse, R6, R1", "FFMA R3, R8, R4, R3")  # R4 as another operand
        self.assertEqual(other.registers, 6)

    def test_conflicts_of_a_bank(self):
        for row, conflicts in (
            ("FFMA R1, R4, R6, R1", 1),  # two of three are even
            ("FFMA R2, R4, R6, R2", 2),
            ("FFMA R2, R4, RZ, R3", 0),
            ("FFMA R2, R4, R4, R3", 0),  # one register, read once
            ("FADD R2, R4, R6", 0),
        ):
            self.assertEqual(self.of(row).conflicts, conflicts, row)
        self.assertEqual(self.of("FFMA R1, R4.reuse, R5, R1", "FFMA R2, R4, R6, R3").conflicts, 1)

    def test_cycles_of_a_loop(self):
        def of(*rows):
            return registers.cycles([disassembly.instruction_of(16 * at, row) for at, row in enumerate(rows)])

        self.assertEqual(of("FFMA R1, R4, RZ, R1", "IADD3 R2, R2, 1, RZ", "@!PT LDS RZ, [RZ]"), 2)
        self.assertEqual(of(*["FFMA R1, R4, R6, R1"] * 4), 8)  # two even ones each
        self.assertEqual(of(*["FFMA R2, R4, R6, R2"] * 4), 12)
        self.assertEqual(of(*["FFMA R2, R4.reuse, R6, R3"] * 4), 4)  # but for the first, one of each bank
        # In turn they overlap: three of each bank in two FFMAs. Two and two do so only at the ends.
        even, odd = "FFMA R1, R4, R6, R1", "FFMA R1, R5, R6, R1"
        self.assertEqual(of(even, odd, even, odd), 6)
        self.assertEqual(of(*[even] * 8, *[odd] * 8), 32 - 2 * 2)


class Kinds(unittest.TestCase):
    def of(self, text):
        return disassembly.instruction_of(0, text)

    def test_widths(self):
        for text, expected in (
            ("LDG.E R0, [R2]", ("global", "load", 32)),
            ("LDG.E.128.CONSTANT.SYS R4, [R4]", ("global", "load", 128)),
            ("LDG.E.ENL2.256 R4, R8, desc[UR4][R4.64]", ("global", "load", 256)),
            ("STG.E.U8 [R2], R0", ("global", "store", 8)),
            ("LDS.64 R0, [R2]", ("shared", "load", 64)),
            ("LDSM.16.M88.4 R0, [R2]", ("shared", "load", 128)),
            ("LDGSTS.E.BYPASS.128 [R2], [R4.64]", ("global to shared", "copy", 128)),
            ("UBLKCP.S.G [UR4], [UR6], UR8", ("global to shared", "bulk copy", 0)),
            ("STL [R1], R0", ("local", "store", 32)),
            ("FFMA R0, R0, R0, R0", None),
        ):
            self.assertEqual(kinds.memory(self.of(text)), expected, text)

    def test_kinds(self):
        for text, expected in (
            ("FFMA R0, R1, R2, R3", "FP32"),
            ("IMAD.MOV.U32 R0, RZ, RZ, R1", "move"),
            ("IMAD.WIDE R0, R1, 0x4, R2", "integer"),
            ("UIADD3 UR4, UR4, 0x4, URZ", "uniform"),
            ("ULDC.64 UR4, c[0x0][0x208]", "constant"),
            ("HGMMA.64x64x16.F32 R24, gdesc[UR4], R24", "tensor"),
            ("NEVERSEEN R0", "other"),
        ):
            self.assertEqual(kinds.kind(self.of(text)), expected, text)

    def test_what_is_never_carried_out_is_not_counted(self):
        loop, _ = disassembly.parse(NVDISASM)
        self.assertEqual(kinds.accesses(loop.live), {("global", "load", 128): 1})
        self.assertNotIn("LDS", kinds.histogram(loop.live))
        self.assertAlmostEqual(kinds.share(loop.live, "FFMA"), 1 / 7)


class Occupancy(unittest.TestCase):
    def test_each_bound(self):
        for arguments, expected in (
            (("sm_90a", 256, 32), (8, 64, "threads")),
            (("sm_90a", 256, 128), (2, 16, "registers")),
            (("sm_90a", 32, 32), (32, 32, "blocks")),
            (("sm_90a", 128, 32, 48 << 10), (4, 16, "shared memory")),
            (("sm_75", 256, 64), (4, 32, "threads")),
            (("sm_86", 1024, 32), (1, 32, "threads")),
            (("sm_120", 512, 128), (1, 16, "registers")),
            (("sm_80", 96, 168), (4, 12, "registers")),
            (("sm_80", 288, 200), (0, 0, "registers")),  # nine warps count as twelve
        ):
            found = occupancy.occupancy(*arguments)
            self.assertEqual((found.blocks, found.warps, found.by), expected, arguments)

    def test_an_architecture_without_figures(self):
        self.assertIsNone(occupancy.occupancy("sm_88", 256, 32))
        self.assertIn("no figures", report.occupancy_in_words("sm_88", code.Resources()))

    def test_a_block_that_does_not_fit(self):
        self.assertEqual(occupancy.occupancy("sm_90a", 1024, 128).blocks, 0)


class Report(unittest.TestCase):
    PTXAS = """\
ptxas info    : Compiling entry function '_Z4loopPf' for 'sm_90a'
ptxas info    : Function properties for _Z4loopPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Function properties for _Z6helperv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""

    def test_resources(self):
        found = code.resources(self.PTXAS)
        self.assertEqual(list(found), ["_Z4loopPf"])
        self.assertEqual(
            vars(found["_Z4loopPf"]), dict(registers=40, stack=16, spill_stores=8, spill_loads=12, shared=1024)
        )
        self.assertIn("8 bytes of spill stores, 12 of spill loads", report.resources_in_words(found["_Z4loopPf"]))

    def test_names(self):
        for name, short in (
            ("void lab::pick<int, (Kind)2>(float*, int)", "lab::pick<int, (Kind)2>"),
            ("one(float*)", "one"),
            ("void (anonymous namespace)::one<2>(float*)", "one<2>"),
        ):
            self.assertEqual(code.without_parameters(name), short)
        self.assertEqual(code.plain("lab::pick<int>"), "pick")


class Lines(unittest.TestCase):
    """What explain says of lines whose accesses nvcc has merged."""

    SASS = """\
.text._Z4loopPf:
	//## File "/k.cu", line 3
        /*0000*/                   LDG.E.128 R4, desc[UR6][R2.64] ;
	//## File "/k.cu", line 5
        /*0010*/                   STG.E desc[UR6][R2.64], R4 ;
        /*0020*/                   EXIT ;
"""

    def kernel(self):
        rows = [
            fake.line("/k.cu", number, {f"global_{access}_requests": 8}, [0] * 32, access=access)
            for number, access in ((3, "load"), (4, "load"), (5, "store"))
        ]
        (found,) = trace.kernels_of(trace.of_json(fake.trace_of([fake.launch("loop", rows)])))
        return found

    def test_merged_and_left_out(self):
        compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
        self.assertEqual(
            lines.merged(self.kernel(), compiled),
            [
                ("/k.cu", 3, "global loads of 32 bits above, merged to 128 bits in the machine code"),
                (
                    "/k.cu",
                    4,
                    "8 global load requests above, no load instruction in the machine code: in registers, or in the "
                    "load of another line",
                ),
            ],
        )

    def as_compiled(self, above, below, sass=""):
        """The rows of a kernel with these counts by line, of the source and of the machine code: {(line, count): number}."""

        def rows(counted):
            lines_ = {}
            for (line, name), number in counted.items():
                lines_.setdefault(line, {})[name] = number
            return [fake.line("/k.cu", line, lines_[line], [0] * 32) for line in lines_]

        launch = fake.launch("loop", rows(above), traced_blocks=1, compiled={"counts": {}, "lines": rows(below)})
        (kernel,) = trace.kernels_of(trace.of_json(fake.trace_of([launch])))
        found = lines.differences(kernel, code.compiled(sass or self.SASS, Report.PTXAS, "/k.cu"))
        return [(line, text) for _, line, text in found]

    def test_both_figures_are_told_at_the_line(self):
        requests, sectors = "global_load_requests", "global_load_sectors"
        (row,) = self.as_compiled({(3, requests): 2048, (3, sectors): 8192}, {(3, requests): 512, (3, sectors): 8192})
        said = "global loads: 2,048 requests and 8,192 sectors above, 512 and 8,192 as nvcc compiles them: "
        self.assertEqual(row, (3, said + "neighbours are one access of 128 bits"))

    def test_loads_that_are_gone_and_stores_that_come_in(self):
        loads, stores = "global_load_requests", "global_store_requests"
        rows = self.as_compiled({(4, loads): 1, (9, stores): 2}, {(9, stores): 1, (20, stores): 2})
        self.assertEqual(
            rows,
            [
                (
                    4,
                    "global loads: 1 request and 0 sectors above, none as nvcc compiles them: the machine code has no load at this line",
                ),
                (
                    9,
                    "global stores: 2 requests and 0 sectors above, 1 and 0 as nvcc compiles them",
                ),
                (
                    20,
                    "global stores: none above, 2 requests and 0 sectors as nvcc compiles them",
                ),
            ],
        )

    def test_a_reason_is_one_that_the_machine_code_shows(self):
        loads = "global_load_requests"
        (row,) = self.as_compiled({(3, loads): 4}, {(3, loads): 8})
        self.assertTrue(row[1].endswith("4 requests and 0 sectors above, 8 and 0 as nvcc compiles them"), row)
        twice = self.SASS.replace("LDG.E.128", "LDG.E", 1)
        at = twice.index("LDG.E")
        begin, end = twice.rindex("\n", 0, at) + 1, twice.index("\n", at) + 1
        twice = twice[:end] + twice[begin:end] + twice[end:]
        (row,) = self.as_compiled({(3, loads): 4}, {(3, loads): 8}, twice)
        self.assertTrue(row[1].endswith("as nvcc compiles them: 2 loads in the machine code have this line"), row)
        # A poll, which registers could not keep: fewer, and nobody knows why.
        (row,) = self.as_compiled({(3, loads): 400}, {(3, loads): 8}, twice)
        self.assertTrue(row[1].endswith("8 and 0 as nvcc compiles them"), row)

    def test_nothing_is_compared_of_a_kernel_that_a_finding_has_ended(self):
        row = fake.line("/k.cu", 3, {"global_load_requests": 8}, [0] * 32)
        for kind, is_told in (("out-of-bounds", False), ("global-race", True)):
            finding = {"kind": kind, "severity": "error", "message": "m", "file": "/k.cu", "line": 3}
            launch = fake.launch("loop", [row], findings=[dict(finding, block=[0, 0, 0], thread=[0, 0, 0])])
            recorded = trace.of_json(fake.trace_of([launch]))
            recorded.launches[0].not_carried_out = "what ends in: Segmentation fault"
            compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
            text = explained.render(recorded, ui.Palette(False), compiled=compiled)
            self.assertEqual("What nvcc makes" in text, is_told, text)

    def test_calls_of_the_driver_are_named_as_in_the_source(self):
        kernel = self.kernel()
        kernel.compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
        kernel.not_carried_out = {"LEPC": True}
        self.assertIn("does not carry out LEPC.", lines.what_nvcc_makes(kernel)[1])
        symbol = image.Symbol("vprintf", 0, 0, 0, 0)
        kernel.compiled[0].image = types.SimpleNamespace(symbols=[symbol])
        self.assertIn("does not carry out printf().", lines.what_nvcc_makes(kernel)[1])

    def test_an_access_that_moves_to_the_next_line_is_not_told(self):
        loads = "global_load_requests"
        self.assertEqual(self.as_compiled({(4, loads): 8}, {(5, loads): 8}), [])
        # Also where another line has less: the two cancel.
        rows = self.as_compiled({(4, loads): 8, (30, loads): 4}, {(5, loads): 8, (30, loads): 1})
        self.assertEqual([line for line, _ in rows], [30])

    def test_where_the_machine_code_was_not_carried_out_its_widths_tell(self):
        self.assertIsNone(self.kernel().as_compiled)
        compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
        self.assertEqual(lines.differences(self.kernel(), compiled), lines.merged(self.kernel(), compiled))

    def test_nothing_is_said_without_machine_code_or_where_it_is_the_same(self):
        self.assertEqual(lines.merged(self.kernel(), []), [])
        self.assertEqual(lines.differences(self.kernel(), []), [])
        same = self.SASS.replace("LDG.E.128", "LDG.E").replace(
            "line 5", 'line 4\n        /*0008*/ LDG.E R1, [R2] ;\n\t//## File "/k.cu", line 5'
        )
        self.assertEqual(lines.merged(self.kernel(), code.compiled(same, Report.PTXAS, "/k.cu")), [])

    def test_inline_ptx_that_nvcc_puts_at_another_line_is_not_missed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "k.cu")
            sass = self.SASS.replace("/k.cu", file)
            for text, said in (('asm("ld.f32 %0, [%1];"\n    : "=f"(v));', 0), ("v = p[i];\nw = p[j];", 1)):
                fake.write(file, "\n\n" + text)
                kernel = self.kernel()
                kernel.lines[file] = {4: kernel.lines["/k.cu"][4]}
                kernel.examples_at = lambda *_: [Example("load", "global", 4, [])]
                rows = lines.merged(kernel, code.compiled(sass, Report.PTXAS, file))
                self.assertEqual(len(rows), said, rows)

    def test_a_file_without_instructions_is_passed_over(self):
        other = self.SASS.replace("/k.cu", "/other.cu")
        self.assertEqual(lines.merged(self.kernel(), code.compiled(other, Report.PTXAS, "/k.cu")), [])

    def test_no_advice_on_what_fills_its_sectors_as_compiled(self):
        """A load of 4 bytes, lanes 16 or 64 bytes apart, of which nvcc makes one of 16."""
        for step, loads, advice in ((16, ".128", 0), (16, "", 1), (64, ".128", 1)):
            counts = {"global_load_requests": 8, "global_load_bytes": 1024, "global_load_active_lanes": 256}
            counts["global_load_sectors"] = 8 * step
            row = fake.line("/k.cu", 3, counts, [step * lane for lane in range(32)])
            launch = fake.launch("loop", [row], grid=(8, 1, 1))
            sass = self.SASS.replace(".128", loads)
            compiled = code.compiled(sass, Report.PTXAS, "/k.cu")
            with self.subTest(step=step, loads=loads):
                (kernel,), _ = trace.selected(trace.of_json({"launches": [launch]}), compiled=compiled)
                self.assertEqual(len(problems.of_kernel(kernel)), advice)
                self.assertEqual(problems.in_passing(kernel) == [problems.WIDE_ENOUGH], advice == 0)
                (kernel,), _ = trace.selected(trace.of_json({"launches": [launch]}))
                self.assertEqual(len(problems.of_kernel(kernel)), 1)

    def test_what_fills_its_sectors_in_the_source_is_not_made_wider(self):
        counts = {"requests": 8, "bytes": 1024, "active_lanes": 256, "sectors": 32}
        counts = {f"global_load_{name}": number for name, number in counts.items()}
        row = fake.line("/k.cu", 4, counts, [4 * lane for lane in range(32)])
        compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
        recorded = trace.of_json({"launches": [fake.launch("loop", [row], grid=(8, 1, 1))]})
        (kernel,), _ = trace.selected(recorded, compiled=compiled)
        self.assertIn(("/k.cu", 4, "load"), problems.made_wide(kernel))  # there is no such instruction any more
        self.assertEqual(problems.in_passing(kernel), [])

    def test_the_report_has_it(self):
        row = fake.line("/k.cu", 3, {"global_load_requests": 8}, [0] * 32)
        recorded = trace.of_json(fake.trace_of([fake.launch("loop", [row])]))
        compiled = code.compiled(self.SASS, Report.PTXAS, "/k.cu")
        without = explained.render(recorded, ui.Palette(False))
        self.assertNotIn("What nvcc makes", without + page.render(recorded, "k") + sarif.render(recorded))
        heading, told = "What nvcc makes of it (./learn sass shows the machine code):\n    ", "/k.cu:3  global loads"
        self.assertIn(heading + told, explained.render(recorded, ui.Palette(False), compiled=compiled))
        self.assertIn("</code></a> global loads of 32 bits above", page.render(recorded, "k", compiled=compiled))
        self.assertIn('"ruleId": "compiled"', sarif.render(recorded, compiled=compiled))
        # Why there are no counts of it.
        recorded.launches[0].not_carried_out = "HADD2"
        why = "The counts of its machine code are not known: the simulator does not carry out HADD2."
        self.assertIn(heading + why, explained.render(recorded, ui.Palette(False), compiled=compiled))
        self.assertIn(why, page.render(recorded, "k", compiled=compiled))

    def test_what_was_not_carried_out_is_noted_at_its_launch(self):
        recorded = Trace([Launch(index, "k", [1, 1, 1], [32, 1, 1], {}, traced_blocks=1) for index in range(2)])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "counts")
            fake.write(file, "1 not: HADD2\n")
            self.assertTrue(execution.add_to(recorded, [], file))
        self.assertEqual([launch.not_carried_out for launch in recorded.launches], ["", "HADD2"])

    def test_a_sample_has_no_counts_of_its_machine_code(self):
        launch = Launch(0, "k", [4, 1, 1], [32, 1, 1], {}, traced_blocks=2)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "counts")
            fake.write(file, "0 0 10:sectors:4\n")
            self.assertTrue(execution.add_to(Trace([launch]), [None], file))
        self.assertEqual((launch.not_carried_out, launch.compiled), (execution.SAMPLE, None))


class Command(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.file = self.write("my.cu", SOURCE)

    def test_bad_input(self):
        for words, part in (
            ((), "sass takes one chapter or one file"),
            (("01", "02"), "sass takes one chapter or one file"),
            (("nothing.cu",), "there is no file nothing.cu"),
            (("docs",), "unknown chapter"),
            (("docs/requirements.txt",), "does not end in .cu; sass takes"),
            (("01", "--rung", "oen"), "did you mean one?"),
            (("01", "--diff", "one"), "--diff takes two kernels"),
            (("01", "--diff", "one", "two", "--rung", "one"), "--diff compares two kernels"),
            (("01", "--threads", "2000"), "legal is the number of threads"),
            (
                (
                    "01",
                    "--json=chapters/01_first_steps/first_steps.cu",
                ),
                "that is the source",
            ),
        ):
            self.assertIn(part, self.refused("sass", *words), words)

    def test_what_is_missing_is_said_in_one_line(self):
        done = self.learn("sass", "my.cu", code=1)
        self.assertEqual(done.stderr.splitlines(), ["learn: " + tools.NO_NVCC])
        self.add_gpu()
        done = self.learn("sass", "my.cu", code=1)
        self.assertEqual(done.stderr.splitlines(), ["learn: " + tools.NO_DISASSEMBLER])


@unittest.skipUnless(HERE, "nvcc or nvdisasm is not here")
class Compiled(fake.Checkout):
    """With the real compiler."""

    def setUp(self):
        super().setUp()
        self.file = self.write("my.cu", SOURCE)
        folder = os.path.dirname(tools.find(MACHINE, "nvdisasm"))
        self.env = {"CUDACXX": MACHINE.nvcc(), "PATH": os.pathsep.join([os.environ["PATH"], folder])}

    def sass(self, *words, code=0):
        return self.learn("sass", *words, env=self.env, code=code)

    def test_from_source_to_report(self):
        done = self.sass("my.cu", "--arch", "sm_90a")
        self.assertIn("Kernel scalar  (sm_90a, nvcc V", done.stdout)
        self.assertIn("Kernel vectors<256>", done.stdout)
        self.assertRegex(done.stdout, r"memory: global loads \d+ x 128 bits; global stores \d+ x 128 bits")
        self.assertIn("memory: global loads 1 x 32 bits; global stores 1 x 32 bits", done.stdout)
        self.assertIn("   11 |     b[i] = a[i];", done.stdout)
        self.assertRegex(done.stdout, r"\|> [0-9a-f]{4} ")
        one = self.sass("my.cu", "--rung", "vectors", "--arch", "sm_90a")
        self.assertNotIn("Kernel scalar", one.stdout)
        # The second time nothing was compiled; an edit of the source is seen.
        (kept,) = os.listdir(os.path.join(self.root, "build", "sass"))
        stamp = os.stat(os.path.join(self.root, "build", "sass", kept)).st_mtime_ns
        self.write("my.cu", SOURCE.replace("b[i] = a[i];\n  }", "b[i].x = a[i].x;\n  }"))
        edited = self.sass("my.cu", "--arch", "sm_90a", "--json")
        self.assertNotEqual(os.stat(os.path.join(self.root, "build", "sass", kept)).st_mtime_ns, stamp)
        data = json.loads(edited.stdout)
        vectors = next(kernel for kernel in data["kernels"] if kernel["name"] == "vectors<256>")
        self.assertEqual({row["bits"] for row in vectors["accesses"]}, {32})
        self.assertEqual(sum(vectors["opcodes"].values()), sum(vectors["kinds"].values()))
        compared = self.sass("my.cu", "--diff", "scalar", "vectors", "--arch", "sm_90a")
        self.assertIn("scalar -> vectors<256>", compared.stdout)

    def test_refused(self):
        self.assertIn("legal is sm_75", self.sass("my.cu", "--arch", "sm_35", code=2).stderr)
        self.assertIn("has no kernel vector", self.sass("my.cu", "--rung", "vector", code=2).stderr)
        self.write("bad.cu", "int broken(")
        done = self.sass("bad.cu", code=1)
        self.assertIn("bad.cu does not compile for sm_90a", done.stderr.splitlines()[-1])
        shutil.rmtree(os.path.join(self.root, "build"))
        self.write("empty.cu", "int main() {}\n")
        self.assertIn("empty.cu has no kernel", self.sass("empty.cu", code=1).stderr)
