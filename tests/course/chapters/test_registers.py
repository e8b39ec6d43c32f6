"""What nvcc 13.0 makes of kernels whose speed hangs on their registers: how many, that none is spilled, in which order they load."""

import re
import subprocess
import unittest

from chapter import NVCC, ROOT

from test_sass import LACK, TOOLCHAIN

from warp.chapter.recorded import bits
from warp.machinecode import code, flow

NEEDS = []
# Source -> kernels and their most registers; a name without template arguments means all of them. With more than 128, one block of
# 256 threads would be alone on its SM; blocks of 480 threads are one for each SM, two of repeats_ahead; those of chapter 12 get
# what setmaxnreg leaves them, and are fast with this allocation alone.
MOST = {
    "04_register_tiling/register_tiling.cu": {
        "thread_tile_2d": 128,
        "thread_tile_float4<8, 2>": 128,
        "thread_tile_float4<16, 2>": 128,
        "thread_tile_float4<32, 2>": 128,
        "unroll_steps": 128,
    },
    "05_bank_conflicts/bank_conflicts.cu": {"product": 128},
    "08_scan/scan_hopper.cu": {"look_ahead": 65536 // 480},
    "11_pipelines/pipelines.cu": {
        "warp_tile": 128,
        "register_buffer": 128,
        "async_copy": 128,
        "ring_sizes": 128,
        "wide_tile": 255,
        "serpentine": 255,
        "grouped_tiles": 255,
    },
    "12_past_cublas/past_cublas_sm90.cu": {
        "register_budget": 168,
        "producer_warps": 168,
        "even_shares": 168,
        "tma_box": 168,
    },
    "14_segments_and_sorts/segments_and_sorts_sm90.cu": {
        "segmented_ahead": 65536 // 480,
        "repeats_ahead": 65536 // (2 * 480),
    },
}
SPILLS = "AsALies"  # of its instantiations nvcc 13.0 spills up to 24 bytes, as chapter 05 says
# Kernel of chapter 04 -> the loads of a K-tile, all of which are issued before the first store to shared memory.
LOADS = {
    "wide_reads": 2,
    "thread_tile_1d": 2,
    "thread_tile_2d": 8,
    "thread_tile_float4<8, 2>": 2,
    "thread_tile_float4<16, 2>": 4,
    "thread_tile_float4<32, 2>": 8,
    "unroll_steps<8, 8>": 8,
}


def is_the_one_of_the_text():
    return NVCC and "release 13.0" in subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout


@unittest.skipUnless(TOOLCHAIN, LACK)
@unittest.skipUnless(is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Registers(unittest.TestCase):
    def made(self, source):
        return code.compile_source(TOOLCHAIN, str(ROOT / "chapters" / source), "sm_90a")

    def test_few_enough_and_none_is_spilled(self):
        for source, most in MOST.items():
            kernels = self.made(source)
            for name, registers in most.items():
                found = [kernel for kernel in kernels if name in (kernel.name, kernel.base)]
                with self.subTest(source=source, kernel=name):
                    self.assertTrue(found)
                    self.assertEqual([one.name for one in found if one.resources.registers > registers], [])
                    lost = [one.name for one in found if one.resources.spill_stores + one.resources.spill_loads]
                    self.assertEqual([one for one in lost if SPILLS not in one], [])

    def test_loads_do_not_wait_for_each_other(self):
        kernels = {kernel.name: kernel for kernel in self.made("04_register_tiling/register_tiling.cu")}
        for name, loads in LOADS.items():
            way = flow.iteration(kernels[name].kernel, kernels[name].loops, "FFMA", bits)
            order = [one.opcode for one in way if one.opcode in ("LDG", "STS")]
            with self.subTest(kernel=name):
                self.assertEqual(order, ["LDG"] * loads + ["STS"] * loads)
                if "float4" not in name:  # no jump but for the two ways to load a float4
                    self.assertEqual([one.opcode for one in way if one.opcode in ("BRA", "BSSY")], ["BRA"])

    def test_ptxas_ignores_no_setmaxnreg(self):
        source = str(ROOT / "chapters" / "12_past_cublas" / "past_cublas_sm90.cu")
        _, report, _ = code._disassembled(TOOLCHAIN, source, "sm_90a")
        self.assertTrue(re.search(r"Used \d+ registers", report))
        self.assertNotIn("setmaxnreg", report)
