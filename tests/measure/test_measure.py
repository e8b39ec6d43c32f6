"""What counts and names kernels on a GPU, on made-up output of Nsight Compute."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from warp.record import counters, fp32_kernels


class Counting(unittest.TestCase):
    def test_what_ncu_prints(self):
        page = "\n".join(
            [
                "==PROF== Connected to process 1",
                '"ID","Process ID","Process Name","Kernel Name","Block Size","Grid Size",'
                '"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","memory_l1_wavefronts_shared",'
                '"gpu__time_duration.sum","l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"',
                '"","","","","","","sector","","ns",""',
                '"0","77","rows","transpose_naive","(32, 32, 1)","(32, 32, 1)","131,072","n/a","5,120.5","3"',
                '"1","78","columns","next","(48, 1, 1)","(4, 1, 1)","7","12","1","3"',
            ]
        )
        metrics = [
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "memory_l1_wavefronts_shared",
            "gpu__time_duration.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
            "absent",
        ]
        launches = counters.parse_raw_page(page, metrics)
        self.assertEqual([launch["kernel"] for launch in launches], ["transpose_naive", "next"])
        self.assertEqual([launch["process"] for launch in launches], ["rows", "columns"])
        self.assertEqual((launches[0]["grid"], launches[1]["block"]), ([32, 32, 1], [48, 1, 1]))
        self.assertEqual(launches[0]["metrics"], {metrics[0]: 131072, metrics[2]: 5120.5, metrics[3]: 3})
        self.assertEqual(launches[0]["counts"], {"global_load_sectors": 131072})
        self.assertEqual(launches[1]["counts"], {"global_load_sectors": 7, "shared_wavefronts": 12})
        listing = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld   Counter   sector  # of sectors\n"
        self.assertEqual(counters.known_metrics(listing, metrics), metrics[:2] + metrics[3:4])
        self.assertEqual(counters.known_metrics("", metrics), metrics)
        output = "==ERROR== Failed to find metric smsp__a.sum\n==PROF== smsp__a.sum_b smsp__c.sum\n"
        self.assertEqual(
            counters.refused_metrics(output, ["smsp__a.sum", "smsp__a.sum_b", "smsp__c.sum"]), ["smsp__a.sum"]
        )
        self.assertEqual(counters.parse_raw_page("No kernels were profiled.", metrics), [])
        denied = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n" + "rung  PASS\n" * 20
        self.assertIn("ERR_NVGPUCTRPERM", counters.last_words(denied))
        self.assertNotIn("PASS", counters.last_words(denied))
        self.assertEqual(counters.last_words("Segmentation fault\n"), "Segmentation fault")
        pattern = counters.only_kernels(["scan", "scan_tiles"]).removeprefix("regex:")
        names = [name for name in ("scan", "scan_tiles", "DeviceScanKernel") if re.search(pattern, name)]
        self.assertEqual(names, ["scan", "scan_tiles"])


class Products(unittest.TestCase):
    def test_which_ran_on_tensor_cores(self):
        fp32 = [
            "ampere_sgemm_128x64_nn",
            "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
            "gemmSN_NN_kernel",
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4"
            "_execute_kernel__51_cublas",
        ]
        tensor = [
            "cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4",
            "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x64_tensor16x8x8",
            "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_warpgroupsize1x1x1",
        ]
        beside = [
            "sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_tensor16x8x16",
            "cutlass_90_tensorop_d1688gemm",
            "splitKreduce_kernel",
            "widen",
            "naive_along_rows",
        ]
        products, wrong = fp32_kernels.verdict(fp32 + tensor + beside)
        self.assertEqual(products, fp32 + tensor, products)
        self.assertEqual(wrong, tensor, wrong)
        self.assertEqual(fp32_kernels.verdict(beside), ([], []))
