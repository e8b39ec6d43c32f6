// Runs programs in their faulty or their corrected variant.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "planted.h"

namespace {

std::vector<Planted> all() {
  std::vector<Planted> programs;
  for (const auto* group :
       {&kGlobalMemory, &kSharedMemory, &kRaces, &kBarriers, &kUninitialized, &kBetweenBlocks,
        &kHostCalls, &kNoProgress, &kThreads, &kBetweenThreads, &kTextures, &kLibraries,
        &kInlinePtx, &kAsyncCopies, &kStreams, &kMatrices, &kBulkCopies, &kWgmma, &kClusters}) {
    programs.insert(programs.end(), group->begin(), group->end());
  }
  return programs;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Planted> programs = all();
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "--list") {
    for (const Planted& program : programs) {
      std::printf("%s %s %s\n", program.name, program.kind,
                  program.on_hardware ? "everywhere" : "simulator");
    }
    return 0;
  }
  if (argc < 3 || (what != "faulty" && what != "correct")) {
    std::fprintf(stderr, "usage: planted --list | planted faulty|correct NAME...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const auto program = std::find_if(programs.begin(), programs.end(), [&](const Planted& p) {
      return std::string_view(p.name) == argv[i];
    });
    if (program == programs.end()) {
      std::fprintf(stderr, "planted: no program is called %s; --list names them\n", argv[i]);
      return 2;
    }
    const auto begin =
        std::chrono::steady_clock::now();  // many copy no result back: see endings.cu
    program->run(what == "correct");
    const char* const error = cudaGetErrorString(cudaDeviceSynchronize());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::printf("%s: %s, %.3f s\n", program->name, error, time.count());
  }
  cudaDeviceReset();  // here compute-sanitizer looks for leaks
}
