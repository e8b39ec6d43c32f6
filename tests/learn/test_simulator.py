"""Real programs on the real simulator: what ./learn explain and ./learn run say about them."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import fake

import suites

from warp.base import paths, records
from warp.chapter import maps
from warp.explain import running
from warp.trace.model import Trace

LABELS = ["learn", "simt"]
NEEDS = ["simtcc", "simt", "chapters"]

PROGRAM = """\
#include <cstdio>
#include <cuda_runtime.h>

template <int STRIDE>
__global__ void gather(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i * STRIDE];
  }
}

int main(int argc, char** argv) {
  int n = 256;
  float *in, *out;
  cudaMalloc(&in, n * 8 * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemset(in, 0, n * 8 * sizeof(float));
  gather<1><<<2, 128>>>(in, out, n);
  gather<8><<<2, 128>>>(in, out, n);
  cudaDeviceSynchronize();
  std::printf("done %d\\n", argc);
  cudaFree(in);
  cudaFree(out);
  return argc > 1 ? 5 : 0;
}
"""

PAST_THE_END = """\
#include <cuda_runtime.h>

__global__ void fill(int* a) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
  int* a;
  cudaMalloc(&a, 100 * sizeof(int));
  fill<<<1, 128>>>(a);
  cudaDeviceSynchronize();
  cudaFree(a);
}
"""

BARRIER = """\
#include <cuda_runtime.h>

__global__ void half(int* a) {
  if (threadIdx.x < 32) {
    __syncthreads();
  }
  a[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = 2;
}

int main() {
  int* a;
  cudaMalloc(&a, 64 * sizeof(int));
  half<<<1, 64>>>(a);
  cudaDeviceSynchronize();
  cudaFree(a);
}
"""


WAITS = """\
#include <cuda_runtime.h>

__global__ void wait(unsigned* flag, int* out) {
  unsigned value = 0;
  while (threadIdx.x == 0 && value == 0)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  if (threadIdx.x == 32) atomicExch(flag, 1u);
  out[threadIdx.x] = 1;
}

int main() {
  unsigned* flag;
  int* out;
  cudaMalloc(&flag, 4);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(flag, 0, 4);
  wait<<<1, 64>>>(flag, out);
  cudaDeviceSynchronize();
  cudaFree(flag);
  cudaFree(out);
}
"""


@unittest.skipUnless((suites.SIMULATOR / "bin" / "simtcc").exists(), "simtcc is not built")
class Simulator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="learn-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_loads_that_wait(self):
        text = self.learn("explain", self.write("waits.cu", WAITS), code=0).stdout
        self.assertIn("waits.cu:6  Waits: these loads ask for the same place", text)
        self.assertNotIn("What to do about it", text)

    def learn(self, *words, code=None):
        done = fake.real(self.folder, *words)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def write(self, name, text):
        fake.write(os.path.join(self.folder, name), text)
        return name


TALKS = r"""
#include <cstdio>
__global__ void fill(float* p) { p[threadIdx.x] = 1; }
template <class T, int N>
__global__ void scale(T* p, T by) {
  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  if (i < N) p[i] *= by;
}
int main() {
  float* p;
  cudaMalloc(&p, 4096), cudaMemset(p, 0, 4096);
  std::printf("{\"this is\": no JSON\n");
  fill<<<1, 64>>>(p);
  scale<float, 100><<<2, 64>>>(p, 2.0f);
  scale<float, 100><<<dim3(1, 2), dim3(32, 2)>>>(p, 2.0f);
  cudaDeviceSynchronize();
  cudaFree(p);
}
"""


PARTING = """\
#include <cuda_runtime.h>
__global__ void part(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n)  // guard
    y[i] = x[i];

  float sum = x[i % 8];
  sum *= 2;
  if (sum > 1) {  // by an access
    for (int k = 0;
         k < i % 4;  // loop
         ++k) {
      sum += x[k];
    }
  } else {
    sum -= x[i % 8 + 1];
  }
  y[i] = sum;
}
int main() {
  const float host[9] = {0, 0, 0, 1, 1, 1, 1, 1, 1};
  float *x, *y;
  cudaMalloc(&x, 64 * 4), cudaMalloc(&y, 64 * 4);
  cudaMemset(x, 0, 64 * 4), cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  part<<<1, 64>>>(x, y, 50);
  cudaDeviceSynchronize();
  cudaFree(x), cudaFree(y);
}
"""


BANKS = """
template <class T>
__global__ void load(T* out, int stride, int share) {
  __shared__ T s[64];
  T v = out[threadIdx.x];
  s[threadIdx.x] = v;
  s[threadIdx.x + 32] = v;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / share * stride];
}
template <class T>
void run(int stride, int share) {
  T* out;
  cudaMalloc(&out, 64 * sizeof(T));
  cudaMemset(out, 0, 64 * sizeof(T));
  load<T><<<1, 32>>>(out, stride, share);
  cudaDeviceSynchronize();
  cudaFree(out);
}
int main() {
  run<float>(2, 1);
  run<float2>(2, 1);
  run<float2>(1, 2);
  run<float4>(2, 1);
  run<float4>(2, 8);
}
"""


class Explain(Simulator):
    def test_counts_beside_the_source(self):
        trace = os.path.join(self.folder, "trace.json")
        text = self.learn("explain", self.write("gather.cu", PROGRAM), "--json", trace, code=0).stdout
        self.assertIn("done 1\n", text)
        # 8 warps; a stride of 8 floats puts every lane into a sector of its own: 4 + 4 and 32 + 4.
        near, far = text.split("Kernel gather<8>")
        self.assertIn("Kernel gather<1>", near)
        self.assertRegex(near, r"16 +4\.0 +4\.0 +32\.0 \| +8 \|     out\[i\] = in\[i \* STRIDE\];")
        self.assertRegex(far, r"16 +32\.0 +4\.0 +32\.0 \| +8 \|     out\[i\] = in\[i \* STRIDE\];")
        self.assertIn("global loads: 8 requests, 256 sectors, 32.0 per request", far)
        self.assertNotIn("shared memory:", text)  # blockIdx and its like are no memory
        recorded = fake.load(trace)
        self.assertEqual([launch["kernel"] for launch in recorded["launches"]], ["gather<1>", "gather<8>"])
        for launch in recorded["launches"]:
            summed = {}
            for line in launch["lines"]:
                for name, value in line["counts"].items():
                    summed[name] = summed.get(name, 0) + value
            nonzero = {name: value for name, value in launch["counts"].items() if value}
            self.assertEqual({name: value for name, value in summed.items() if value}, nonzero)

    def test_the_simulator_writes_the_form_that_is_read(self):
        """Every key is known, none is missing: strictly, where a reader leaves out what it does not know."""
        for name, text in (("gather", PROGRAM), ("banks", BANKS), ("part", PARTING)):
            source = self.write(name + ".cu", text)
            self.learn("explain", source, code=0)
            written = os.path.join(self.folder, name + ".json")
            program = os.path.join(running.output_folder(os.path.join(self.folder, source)), name)
            subprocess.run([program], env=dict(os.environ, SIMT_JSON=written), check=True, capture_output=True)
            self.assertTrue(records.read(Trace, fake.load(written), strict=True).launches, name)

    def test_lanes_part_at_the_branch(self):
        """Not where the block of code begins that ends with it, nor at its last access."""
        recorded = json.loads(self.learn("explain", self.write("part.cu", PARTING), "--json", code=0).stdout)
        lines = [line for line in recorded["launches"][0]["lines"] if line["counts"].get("divergent_branches")]
        text = PARTING.splitlines()
        self.assertEqual(
            [text[line["line"] - 1].rpartition("// ")[2] for line in lines], ["guard", "by an access", "loop"]
        )

    def test_the_trace_alone_on_standard_output(self):
        source = self.write("talks.cu", TALKS)
        for words in (["explain", source, "--json"], ["explain", "--json", source], ["explain", source, "--json", "-"]):
            done = self.learn(*words, code=0)
            self.assertIn('{"this is": no JSON', done.stderr)
            recorded = json.loads(done.stdout)
            kernels = [(k["kernel"], k["launches"]) for k in recorded["kernels"]]
            self.assertEqual(kernels, [("fill", [0]), ("scale<float, 100>", [1, 2])])
            launches = [(launch["grid"], launch["block"]) for launch in recorded["launches"]]
            self.assertEqual(launches, [([1, 1, 1], [64, 1, 1]), ([2, 1, 1], [64, 1, 1]), ([1, 2, 1], [32, 2, 1])])
            for kernel in recorded["kernels"]:
                for name, value in kernel["counts"].items():
                    self.assertEqual(value, sum(recorded["launches"][i]["counts"][name] for i in kernel["launches"]))
            self.assertEqual(recorded["kernels"][1]["counts"]["global_load_sectors"], 13 + 13)

    def test_maps_are_as_high_as_the_wavefronts_that_were_counted(self):
        recorded = json.loads(self.learn("explain", self.write("banks.cu", BANKS), "--json", code=0).stdout)
        heights = []
        for launch in recorded["launches"]:
            for line in launch["lines"]:
                for example in line["examples"]:
                    if example["space"] == "shared":
                        groups = maps.of_example(example).groups
                        height = sum(max(len(stack) for stack in group.stacks) for group in groups)
                        self.assertEqual(height, example["wavefronts"], example)
                        heights.append((example["access"], example["size"], height))
        # As they were measured on an H200, see tests/simulator/microkernels.
        self.assertEqual(
            sorted(heights),
            [("load", 4, 2), ("load", 8, 1), ("load", 8, 4), ("load", 16, 2), ("load", 16, 8)]
            + [("store", 4, 1)] * 2
            + [("store", 8, 2)] * 4
            + [("store", 16, 4)] * 4,
        )

    def test_every_count_of_the_reference_is_in_the_trace(self):
        recorded = json.loads(self.learn("explain", self.write("talks.cu", TALKS), "--json", code=0).stdout)
        reference = fake.load(os.path.join(fake.ROOT, "tests", "simulator", "microkernels", "h200.json"))
        measured = next(iter(reference["cases"].values()))["counts"]
        self.assertEqual(set(measured) - set(recorded["launches"][0]["counts"]), set())

    def test_arguments_and_exit_code(self):
        done = self.learn("explain", self.write("gather.cu", PROGRAM), "--launch", "1", "--", "x", code=5)
        self.assertIn("done 2\n", done.stdout)
        self.assertNotIn("Kernel gather<1>", done.stdout)
        self.assertIn("ended with exit code 5", done.stdout)

    def test_a_read_past_the_end(self):
        trace = os.path.join(self.folder, "trace.json")
        text = self.learn("explain", self.write("fill.cu", PAST_THE_END), "--json", trace, code=1).stdout
        self.assertRegex(text, r"out-of-bounds in kernel fill at fill\.cu:4")
        self.assertRegex(text, r"block \(0,0,0\), thread \(100,0,0\), launch 0")
        self.assertIn(">     4 |   a[blockIdx.x * blockDim.x + threadIdx.x] = 1;", text)
        # The report says it, with the source; the program's own line about it is not shown twice.
        done = self.learn("explain", os.path.join(self.folder, "fill.cu"), code=1)
        self.assertNotIn("out-of-bounds", done.stderr)
        self.assertEqual(done.stdout.count("just past the end"), 1)
        found = fake.load(trace)["launches"][0]["findings"][0]
        self.assertEqual((found["kind"], found["line"], found["thread"]), ("out-of-bounds", 4, [100, 0, 0]))
        self.assertIn("400", found["allocation"] + found["message"])

    def test_a_barrier_that_half_of_the_block_never_reaches(self):
        text = self.learn("explain", self.write("half.cu", BARRIER), code=1).stdout
        self.assertRegex(text, r"barrier-divergence in kernel half at half\.cu:[58]")

    def test_a_file_that_does_not_compile(self):
        done = self.learn(
            "explain", self.write("bad.cu", "#include <cuda_runtime.h>\nint main() { nonsense; }\n"), code=1
        )
        self.assertRegex(done.stderr, r"bad\.cu:2:\d+: error: .*nonsense")
        self.assertTrue(done.stderr.endswith("bad.cu does not compile\n"))
        done = self.learn("explain", self.write("part.cu", "#include <cuda_runtime.h>\n"), code=1)
        self.assertTrue(done.stderr.endswith("part.cu has no main(): explain runs whole programs\n"))


class Chapters(Simulator):
    def test_a_rung_explained(self):
        done = self.learn("explain", "01", "--rung", "add_guarded", code=0)
        self.assertIn("Kernel add_guarded", done.stdout)
        self.assertRegex(done.stdout, r"\d +\| +\d+ \| .*\[\w+\] = ")

    def test_the_readme_shows_what_explain_prints(self):
        readme = fake.read(os.path.join(fake.ROOT, "README.md"))
        shown = re.search(r"`\./learn (explain [^`]+)`, shortened\):\n\n```\n(.*?)```", readme, re.DOTALL)
        self.folder = fake.ROOT  # paths are shown from there
        printed = self.learn(*shown[1].split(), code=0).stdout
        lines = shown[2].splitlines()
        self.assertGreater(len(lines), 10)
        missing = [line for line in lines if line not in printed]
        self.assertEqual(missing, [])

    def test_a_sample_is_called_one(self):
        done = self.learn("explain", "01", "--rung", "add_guarded", "--blocks", "16", code=0)
        self.assertRegex(done.stdout, r"a sample: 16 of \d{3} blocks")
        self.assertNotIn("sample", self.learn("explain", "01", "--rung", "add_guarded", code=0).stdout)

    def test_a_finding_raised_on_purpose(self):
        done = self.learn("explain", "01", "--rung", "add_unguarded", code=0)
        self.assertIn("out-of-bounds in kernel add_unguarded", done.stdout)


@unittest.skipUnless(shutil.which("gdb"), "no gdb here")
class Debugger(Simulator):
    def test_source_lines_variables_and_threadIdx(self):
        self.learn("explain", self.write("gather.cu", PROGRAM), code=0)
        folders = [name for name in os.listdir(os.path.join(paths.BUILD, "explain")) if name.startswith("gather-")]
        newest = max(folders, key=lambda name: os.path.getmtime(os.path.join(paths.BUILD, "explain", name)))
        program = os.path.join(paths.BUILD, "explain", newest, "gather")
        words = ["gdb", "-batch", "-nx", "-x", os.path.join(fake.ROOT, "tools", "simt.gdb")]
        words += ["-ex", "break gather.cu:8 if threadIdx.x == 5", "-ex", "run"]
        words += ["-ex", "whoami", "-ex", "print i", "-ex", "print n", program]
        done = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertRegex(done.stdout, r"gather\.cu:8")
        self.assertRegex(done.stdout, r"thread \(5, 0, 0\) of \(128, 1, 1\), block \([01], 0, 0\) of \(2, 1, 1\)")
        self.assertRegex(done.stdout, r"warp 0, lane 5")
        self.assertRegex(done.stdout, r"\$\d+ = (5|133)\n")
        self.assertRegex(done.stdout, r"\$\d+ = 256\n")
