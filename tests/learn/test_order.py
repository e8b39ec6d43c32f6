"""The chart of the order of work in streams: of rounds written by hand, and of a program that runs."""

import json
import os
import subprocess
import tempfile
import unittest

import fake  # noqa: F401  (it finds the tools)

import suites

from warp.base.ui import Palette
from warp.explain import order
from warp.trace import trace
from warp.trace.model import Round, Scheduled

LABELS = ["learn", "simt"]
NEEDS = ["simtcc", "simt"]

PROGRAM = """\
#include <cuda_runtime.h>

__global__ void twice(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

void hosts(void*) {}

int main() {
  const int n = 512, half = n / 2;
  float *host = nullptr, *device = nullptr;
  cudaMallocHost(&host, n * sizeof(float));
  cudaMalloc(&device, n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (int again = 0; again < 2; ++again) {  // two halves that nothing orders
    for (int h = 0; h < 2; ++h) {
      float *const mine = device + h * half, *const its = host + h * half;
      cudaMemcpyAsync(mine, its, half * sizeof(float), cudaMemcpyHostToDevice, streams[h]);
      twice<<<half / 128, 128, 0, streams[h]>>>(mine, half);
      cudaMemcpyAsync(its, mine, half * sizeof(float), cudaMemcpyDeviceToHost, streams[h]);
    }
    cudaDeviceSynchronize();
  }
  cudaMemsetAsync(device, 0, half * sizeof(float), streams[0]);  // the second waits for the first
  cudaEventRecord(event, streams[0]);
  cudaStreamWaitEvent(streams[1], event);
  twice<<<half / 128, 128, 0, streams[1]>>>(device, half);
  cudaLaunchHostFunc(streams[1], hosts, nullptr);
  cudaDeviceSynchronize();
  cudaEventDestroy(event);
  for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
  const bool right = host[n - 1] == 4 * (n - 1);
  cudaFree(device);
  cudaFreeHost(host);
  return right ? 0 : 1;
}
"""
# One stream, with more work than a trace keeps.
LONG = """\
#include <cuda_runtime.h>
int main() {
  int* device = nullptr;
  cudaMalloc(&device, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 5000; ++i) cudaMemsetAsync(device, 0, sizeof(int), stream);
  cudaDeviceSynchronize();
  cudaStreamDestroy(stream);
  cudaFree(device);
}
"""
DEFAULT_ALONE = LONG.replace("cudaStreamCreate(&stream);", "").replace("cudaStreamDestroy(stream);", "")
DEFAULT_ALONE = DEFAULT_ALONE.replace("cudaStream_t stream;", "cudaStream_t stream = nullptr;")


def work(what, stream, after=(), device=0):
    return Scheduled(what, stream, device, "", 0, list(after))


def text(*rounds, width=80):
    return "\n".join(order.text(list(rounds), Palette(False), width))


# Two streams; a third waits for both.
FORKED = Round([work("HtoD", 1), work("HtoD", 2), work("left", 1, [0]), work("sum", 3, [1, 2])])


class Charts(unittest.TestCase):
    def test_work_stands_behind_what_it_waits_for(self):
        self.assertEqual(order.steps_of(FORKED.work), [1, 1, 2, 3])
        rows = order.lines(order.charts([FORKED])[0], 80)
        self.assertEqual(rows[0].split(), ["1", "2", "3"])
        self.assertEqual(rows[1].split(), ["stream", "1", "HtoD", "left"])
        self.assertEqual(rows[2].split(), ["stream", "2", "HtoD"])
        self.assertEqual(rows[3].split(), ["stream", "3", "sum"])
        self.assertEqual(rows[3].index("sum"), rows[0].index("3"), "it stands below its step")

    def test_equal_rounds_are_drawn_once(self):
        other = Round([work("HtoD", 1), work("HtoD", 2, [0])])
        said = text(FORKED, other, FORKED)
        self.assertIn("4 pieces of work in 3 steps, at most 2 at once; 2 times", said)
        self.assertIn("2 pieces of work in 2 steps, at most 1 at once", said)
        self.assertEqual(said.count("sum"), 1)

    def test_what_does_not_fit_is_said(self):
        long = Round([work("HtoD", 1, [i - 1] if i else []) for i in range(100)], is_cut=True)
        said = text(long, width=60)
        self.assertIn("and 93 more steps", said)
        self.assertIn("and more work, which the trace does not keep", said)
        self.assertLessEqual(max(map(len, said.splitlines())), 60)
        many = [Round([work(f"k{i}", 1)]) for i in range(order.MOST_CHARTS + 2)]
        self.assertIn("and 2 more; --json FILE has all of them", text(*many))

    def test_devices_and_default_streams_have_their_names(self):
        said = text(Round([work("PtoP", 1), work("PtoP", 2, device=1), work("memset", 0, [0], device=0)]))
        for name in ("GPU 0, default stream", "GPU 0, stream 1", "GPU 1, stream 2"):
            self.assertIn(name, said)

    def test_names_are_cut_to_what_tells_them_apart(self):
        self.assertEqual(order.short("lab::add<float, 3>(float*)"), "add")
        self.assertEqual(order.short("a_name_that_is_long"), "a_name_that_i~")

    def test_a_program_without_streams_has_none(self):
        self.assertEqual(order.text([], Palette(False), 80), [])


class Program(unittest.TestCase):
    def rounds_of(self, source):
        with tempfile.TemporaryDirectory() as folder:
            file, program = os.path.join(folder, "sample.cu"), os.path.join(folder, "sample")
            with open(file, "w", encoding="utf-8") as out:
                out.write(source)
            compiler = suites.SIMULATOR / "bin" / "simtcc"
            subprocess.run([compiler, file, "-o", program], check=True)
            found = os.path.join(folder, "trace.json")
            subprocess.run([program], check=True, env={**os.environ, "SIMT_JSON": found})
            with open(found, encoding="utf-8") as text:
                return trace.of_json(json.load(text)).rounds

    def orders(self, source):
        return [[(one.what, one.stream, step) for one, step in zip(r.work, order.steps_of(r.work))] for r in source]

    def test_streams_events_and_waits_make_the_order(self):
        halves = [(what, stream, step) for stream in (1, 2) for step, what in enumerate(("HtoD", "twice", "DtoH"), 1)]
        behind = [("memset", 1, 1), ("twice", 2, 2), ("host function", 2, 3)]
        self.assertEqual(self.orders(self.rounds_of(PROGRAM)), [halves, halves, behind])

    def test_without_the_event_nothing_orders_the_two(self):
        free = PROGRAM.replace("  cudaStreamWaitEvent(streams[1], event);\n", "").replace(
            "(device, half);", "(device + half, half);"
        )
        self.assertEqual(self.orders(self.rounds_of(free))[2][1], ("twice", 2, 1))

    def test_the_default_stream_is_behind_blocking_streams_and_ahead_of_them(self):
        blocking = PROGRAM.replace("cudaStreamNonBlocking", "cudaStreamDefault").replace("0, streams[h]>>>", "0>>>")
        want = [("HtoD", 1, 1), ("twice", 0, 2), ("DtoH", 1, 3), ("HtoD", 2, 3), ("twice", 0, 4), ("DtoH", 2, 5)]
        self.assertEqual(self.orders(self.rounds_of(blocking))[0], want)

    def test_a_long_program_is_cut(self):
        (round,) = self.rounds_of(LONG)
        self.assertTrue(round.is_cut)
        self.assertEqual(len(round.work), 4096)

    def test_the_default_stream_alone_has_no_chart(self):
        self.assertEqual(self.rounds_of(DEFAULT_ALONE), [])
