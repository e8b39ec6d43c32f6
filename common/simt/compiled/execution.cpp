#include "compiled/execution.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "compiled/code.h"
#include "compiled/warp.h"
#include "program/program_image.h"

namespace simt::compiled {
namespace {

constexpr uint64_t kBudget = uint64_t{1} << 27;  // instructions of warps, of a launch
constexpr double kSeconds = 20;                  // of a CPU, of all launches
// Of compute capability 9.0, in the first bank.
constexpr unsigned kBlockAt = 0, kGridAt = 12, kStackAt = 0x28, kParametersAt = 0x210;

constexpr const char* kTooLong = "more than 20 s of a CPU's time";

pid_t child = 0;
int its_launch = 0;
double seconds_left = kSeconds;

const std::vector<Code>& codes() {
  static const auto* const all = new std::vector<Code>(read(settings::compiled_code()));
  return *all;
}

void put(std::vector<unsigned char>& bank, size_t at, const void* data, size_t size) {
  if (bank.size() < at + size) bank.resize(at + size);
  std::memcpy(&bank[at], data, size);
}

void fill_banks(Block& block, std::span<const detail::Argument> arguments) {
  const Code& code = block.code;
  auto& first = block.banks[0];
  first.resize(kParametersAt);
  put(first, kBlockAt, block.block.data(), 12);
  put(first, kGridAt, block.grid.data(), 12);
  const uint32_t stack = code.local_bytes;
  put(first, kStackAt, &stack, 4);
  if (arguments.size() != code.parameters.size()) throw NotCarriedOut{"other parameters"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size != code.parameters[i].size)
      throw NotCarriedOut{"parameters of other sizes"};
    put(first, kParametersAt + code.parameters[i].offset, arguments[i].data, arguments[i].size);
  }
  for (const Code::Piece& piece : code.pieces) {
    const uint64_t variable = engine::program_image().first + piece.symbol;
    const void* const at = piece.bytes.empty() ? reinterpret_cast<const void*>(variable)
                                               : static_cast<const void*>(piece.bytes.data());
    if (piece.is_address) {
      put(block.banks.at(piece.bank), piece.offset, &at, 8);
    } else {
      put(block.banks.at(piece.bank), piece.offset, at,
          piece.bytes.empty() ? piece.size : piece.bytes.size());
    }
  }
}

void run_block(Block& block) {
  const unsigned threads = block.block[0] * block.block[1] * block.block[2];
  std::vector<std::unique_ptr<Warp>> warps;
  for (unsigned first = 0; first < threads; first += kLanesOfWarp)
    warps.push_back(std::make_unique<Warp>(block, first, threads - first));
  block.shared.assign(kSharedBytes, 0);
  for (;;) {
    bool waits = true, ended = true;
    for (const auto& warp : warps) {
      if (!warp->ended() && !warp->waits_for_block()) warp->run();
      ended = ended && warp->ended();
      waits = waits && (warp->ended() || warp->waits_for_block());
    }
    if (ended) return;
    if (!waits) continue;
    for (const auto& warp : warps) warp->open_barrier();
  }
}

void write(FILE* file, int index, const Code& code, const std::vector<Executed>& executed,
           uint64_t atomics_on_one_word) {
  std::fprintf(file, "%d %td", index, &code - codes().data());
  for (size_t i = 0; i < executed.size(); ++i) {
    const auto put = [&](const char* name, uint64_t value) {
      if (value)
        std::fprintf(file, " %zx:%s:%llu", 16 * i, name, static_cast<unsigned long long>(value));
    };
    for_each_count(executed[i].counts, put);
    put("issued", executed[i].issued);
    put("lanes", executed[i].lanes);
    put("l1_wavefronts", executed[i].l1_wavefronts);
    if (i == 0) put("atomics_on_one_word", atomics_on_one_word);
  }
  std::fprintf(file, "\n");
}

std::string counts_file() { return std::string(settings::compiled_code()) + ".counts"; }

// Why there are no counts of a launch: what the simulator does not carry out.
void note(int index, const std::string& what) {
  FILE* const file = std::fopen(counts_file().c_str(), "a");
  if (!file) return;
  std::fprintf(file, "%d not: %s\n", index, what.c_str());
  std::fclose(file);
}

// In the child.
[[noreturn]] void carry_out(int index, const Code& code, const Config& config,
                            std::span<const detail::Argument> arguments) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
    ::signal(signal, SIG_DFL);
  const auto most = static_cast<rlim_t>(std::ceil(seconds_left));
  const rlimit seconds{most, most}, none{0, 0};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &none);
  std::vector<Executed> executed(code.instructions.size());
  engine::Counter counter;
  std::string why;
  try {
    Block block{code,
                {},
                {config.block.x, config.block.y, config.block.z},
                {config.grid.x, config.grid.y, config.grid.z},
                {},
                {},
                executed,
                counter,
                kBudget};
    fill_banks(block, arguments);
    for (unsigned z = 0; z < config.grid.z; ++z) {
      for (unsigned y = 0; y < config.grid.y; ++y) {
        for (unsigned x = 0; x < config.grid.x; ++x) {
          block.index = {x, y, z};
          run_block(block);
        }
      }
    }
  } catch (const NotCarriedOut& what) {
    why = what.why;
  } catch (const std::exception& what) {
    why = what.what();
  }
  if (!why.empty()) {
    note(index, why);
  } else if (FILE* const file = std::fopen(counts_file().c_str(), "a")) {
    write(file, index, code, executed, counter.atomics.most());
    std::fclose(file);
  }
  _exit(0);
}

}  // namespace

void begin(int index, std::string_view kernel, const Config& config,
           std::span<const detail::Argument> arguments) {
  if (!settings::compiled_code()) return;
  const Code* const code = find(codes(), kernel);
  if (!code) return;
  if (config.cooperative) return note(index, "cooperative launches");
  if (config.cluster.x * config.cluster.y * config.cluster.z > 1)
    return note(index, "launches in clusters");
  finish();
  if (seconds_left <= 0) return note(index, kTooLong);
  [[maybe_unused]] static const int registered = std::atexit(finish);
  its_launch = index;
  child = fork();
  if (child == 0) carry_out(index, *code, config, arguments);
}

void finish() {
  rusage used{};
  int status = 0;
  if (child > 0 && wait4(child, &status, 0, &used) == child) {
    seconds_left -= static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      const bool is_limit = signal == SIGXCPU || signal == SIGKILL;
      note(its_launch, is_limit ? kTooLong : std::string("what ends in: ") + strsignal(signal));
    }
  }
  child = 0;
}

}  // namespace simt::compiled
