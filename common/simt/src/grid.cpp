// A launch: the configuration checked, the blocks given to the workers, their counts merged.
#include "grid.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "api_errors.h"
#include "device.h"
#include "kernels.h"
#include "memory.h"
#include "repeats.h"
#include "shadow.h"
#include "streams.h"
#include "symbols.h"

extern "C" void __sanitizer_cov_trace_pc();

namespace simt::engine {

extern bool traced_program;

namespace {

uint64_t environment_number(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  const uint64_t value = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text && value > 0 ? value : fallback;
}

// The OS threads that run blocks. The calling thread is the first of them, so that a program with
// SIMT_THREADS=1 runs its kernels where a debugger expects them.
class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;  // its threads live as long as the process
    return *pool;
  }

  // Runs all blocks of the grid; a fault keeps further blocks from starting. One caller at a time.
  void run(Grid& grid) {
    const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
    grid_ = &grid;
    next_block_ = 0;
    block_count_ = blocks;
    // The blocks of a cooperative launch wait for each other.
    const size_t helpers = grid.barrier ? blocks - 1 : std::min<uint64_t>(threads_ - 1, blocks - 1);
    while (workers_.size() < helpers + 1) add_worker();
    Standstill standstill(helpers + 1);
    grid.standstill = &standstill;
    {
      const std::lock_guard lock(mutex_);
      working_ = helpers;
      helpers_wanted_ = helpers;
      ++generation_;
    }
    if (helpers) wake_.notify_all();
    take_blocks(caller_worker());
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }

  template <class F>
  void for_each_worker(F&& f) {
    for (auto& worker : workers_) {
      if (worker) f(*worker);
    }
    for (auto& [id, worker] : callers_) f(*worker);
  }

 private:
  Pool()
      : threads_(
            environment_number("SIMT_THREADS", std::max(1u, std::thread::hardware_concurrency()))) {
    workers_.resize(1);  // the caller's place
  }

  // A worker belongs to its OS thread, whose shared memory it uses.
  Worker& caller_worker() {
    const auto id = std::this_thread::get_id();
    for (auto& [known, worker] : callers_) {
      if (known != id) continue;
      worker->attach();
      return *worker;
    }
    callers_.emplace_back(id, std::make_unique<Worker>());
    return *callers_.back().second;
  }

  void add_worker() {
    const size_t index = workers_.size();
    workers_.emplace_back();
    std::unique_lock lock(mutex_);
    std::thread([this, index] {
      auto worker = std::make_unique<Worker>();
      Worker& mine = *worker;
      uint64_t seen;
      {
        const std::lock_guard started(mutex_);
        workers_[index] = std::move(worker);
        seen = generation_;
      }
      done_.notify_all();
      for (;;) {
        {
          std::unique_lock waiting(mutex_);
          wake_.wait(waiting, [&] { return generation_ != seen; });
          seen = generation_;
          if (index > helpers_wanted_) continue;
        }
        take_blocks(mine);
        {
          const std::lock_guard finished(mutex_);
          --working_;
        }
        done_.notify_all();
      }
    }).detach();
    done_.wait(lock, [&] { return workers_[index] != nullptr; });
  }

  void take_blocks(Worker& worker) {
    const dim3 extent = grid_->grid;
    for (;;) {
      const uint64_t block = next_block_.fetch_add(1, std::memory_order_relaxed);
      if (block >= block_count_) return grid_->standstill->leave();
      const uint3 index{static_cast<unsigned>(block % extent.x),
                        static_cast<unsigned>(block / extent.x % extent.y),
                        static_cast<unsigned>(block / extent.x / extent.y)};
      const bool ended = worker.run_block(*grid_, index);
      if (grid_->barrier) grid_->barrier->leave(!ended);
      grid_->standstill->move();
      Patience::move();
      if (!ended) {
        next_block_.store(block_count_, std::memory_order_relaxed);
        return grid_->standstill->leave();
      }
    }
  }

  const uint64_t threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::unique_ptr<Worker>> workers_;  // [0] stays empty
  std::deque<std::pair<std::thread::id, std::unique_ptr<Worker>>> callers_;
  const Grid* grid_ = nullptr;
  std::atomic<uint64_t> next_block_{0};
  uint64_t block_count_ = 0;
  uint64_t generation_ = 0;
  size_t helpers_wanted_ = 0;
  size_t working_ = 0;
};

// How many blocks of a launch are counted. A program that measures launches one kernel hundreds of times,
// and each time the counts are much the same: once the launches of one kernel, grid and block have been
// counted in full for so many accesses of lanes, a few blocks of each further one have to do, and later a single
// one.
class Sampling {
 public:
  static constexpr uint64_t kAccesses = uint64_t{1} << 26;
  static constexpr uint64_t kBlocks = 4;

  static Sampling& instance() {
    static Sampling* sampling = new Sampling;
    return *sampling;
  }

  // Launches of one kernel, grid and block.
  struct Kind {
    uint64_t accesses = 0;
    bool repeats = false;  // the latest that was counted in full need not run again
  };

  Kind& kind(const Config& config, void (*entry)(void*)) {
    const dim3 g = config.grid, b = config.block;
    return kinds_[{reinterpret_cast<uint64_t>(entry), reinterpret_cast<uint64_t>(config.kernel),
                   config.shared, g.x, g.y, g.z, b.x, b.y, b.z}];
  }

  // Have such launches been counted in full for long enough?
  static bool is_enough(uint64_t accesses) {
    return !std::getenv("SIMT_BLOCKS") && accesses >= environment_number("SIMT_FULL", kAccesses);
  }

  static uint64_t wanted(uint64_t blocks, uint64_t accesses) {
    const char* text = std::getenv("SIMT_BLOCKS");
    if (text) return environment_number("SIMT_BLOCKS", blocks);  // "all" is no number
    const uint64_t full = environment_number("SIMT_FULL", kAccesses);
    return accesses < full ? blocks : accesses / 2 < full ? kBlocks : 1;
  }

 private:
  std::map<std::array<uint64_t, 9>, Kind> kinds_;
};

uint64_t accesses_of(const Counts& c) {
  return c.global_load_active_lanes + c.global_store_active_lanes + c.global_atomic_active_lanes +
         c.shared_load_active_lanes + c.shared_store_active_lanes + c.shared_atomic_active_lanes;
}

// `why` says what is wrong. Measured on an H200 with CUDA 13.0: an empty grid, and a block beyond the limits,
// are invalid values, which older versions called an invalid configuration.
cudaError_t check_configuration(const Config& config, std::string& why) {
  const dim3 g = config.grid, b = config.block;
  const auto text = [](dim3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
  };
  why = "a grid of " + text(g) + " blocks of " + text(b) + " threads";
  if (!graphs::is_valid(config.stream)) {
    why = "its stream is none, or has been destroyed";
    return cudaErrorInvalidResourceHandle;
  }
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0) {
    why += " holds no thread";
    return cudaErrorInvalidValue;
  }
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || uint64_t{b.x} * b.y * b.z > kMaxBlockThreads) {
    why += " is illegal: a block has at most 1024 threads, and 64 of them along z";
    return cudaErrorInvalidValue;
  }
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    why += " is illegal: a grid has at most 2147483647 blocks along x, and 65535 along y and z";
    return cudaErrorInvalidConfiguration;
  }
  const uint64_t threads = uint64_t{b.x} * b.y * b.z;
  if (const unsigned most = kernels::find(config.kernel).most_threads; threads > most) {
    why = "a block of " + std::to_string(threads) + " threads is more than the " +
          std::to_string(most) + " that the kernel's __launch_bounds__ allow";
    return cudaErrorInvalidValue;
  }
  // Without leave for more, the 48 KiB hold what is static, too.
  const size_t fixed = config.kernel ? kernels::static_shared(config.kernel) : 0;
  if (fixed > device::kSharedPerBlock) {
    why = "its __shared__ variables take " + std::to_string(fixed) + " bytes together, and " +
          std::to_string(device::kSharedPerBlock) +
          " are allowed: nvcc would not compile it. Larger tiles stand in dynamic shared memory, "
          "`extern __shared__`";
    return cudaErrorInvalidValue;
  }
  const size_t limit = device::allowed_dynamic_shared(config.kernel);
  const size_t allowed = limit > device::kSharedPerBlock
                             ? std::min(limit, device::kSharedPerBlockOptin - fixed)
                             : limit - fixed;
  if (config.shared > allowed) {
    why = "it asks for " + std::to_string(config.shared) + " bytes of dynamic shared memory, and " +
          std::to_string(allowed) + " are allowed" +
          (fixed ? " beside its " + std::to_string(fixed) + " bytes of __shared__ variables" : "") +
          ". More than 48 KiB takes cudaFuncSetAttribute() with "
          "cudaFuncAttributeMaxDynamicSharedMemorySize first";
    return cudaErrorInvalidValue;
  }
  if (config.cooperative) {
    const int resident = device::resident_blocks(static_cast<int>(threads), config.shared + fixed) *
                         device::kMultiprocessors;
    if (uint64_t{g.x} * g.y * g.z > static_cast<uint64_t>(resident)) {
      why += " is too large for a cooperative launch: all blocks must be resident at once, and " +
             std::to_string(resident) + " of these can be";
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

// After a race, or a read of memory before anyone wrote there, the kernel goes on.
bool ends_the_kernel(Fault::Kind kind) {
  return kind != Fault::Kind::shared_race && kind != Fault::Kind::shared_uninitialized &&
         kind != Fault::Kind::global_race && kind != Fault::Kind::global_uninitialized &&
         kind != Fault::Kind::division_by_zero && kind != Fault::Kind::exited_lane;
}

LaunchKey key_of(const Config& config, void (*entry)(void*),
                 std::span<const detail::Argument> arguments) {
  const dim3 g = config.grid, b = config.block;
  LaunchKey key;
  key.words = {reinterpret_cast<uint64_t>(entry),
               reinterpret_cast<uint64_t>(config.kernel),
               config.shared,
               g.x,
               g.y,
               g.z,
               b.x,
               b.y,
               b.z};
  for (const detail::Argument& argument : arguments) {
    const auto* bytes = static_cast<const unsigned char*>(argument.data);
    key.arguments.insert(key.arguments.end(), bytes, bytes + argument.size);
  }
  return key;
}

// The source lines of a race, whichever came first.
auto lines_of(const Fault& race) {
  const symbols::Location &a = symbols::locate(race.pc), &b = symbols::locate(race.other_pc);
  std::pair lines{std::pair{a.file, a.line}, std::pair{b.file, b.line}};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

// Of races of one kind between the same two lines only the first is told.
void keep_one_for_each_pair_of_lines(std::vector<Fault>& faults, Fault::Kind kind) {
  std::set<decltype(lines_of({}))> known;
  std::erase_if(faults, [&](const Fault& fault) {
    return fault.kind == kind && !known.insert(lines_of(fault)).second;
  });
}

void merge(std::vector<BlockRace>& races, const BlockRace& more) {
  for (BlockRace& race : races) {
    if (!race.is_same_place(more)) continue;
    race.varies |= more.varies || race.value != more.value;
    return;
  }
  races.push_back(more);
}

// Does code go from one return address to the other without a choice? Each block of code begins with a call of
// __sanitizer_cov_trace_pc.
bool is_straight(uint64_t from, uint64_t to) {
  constexpr uint64_t kFar = 4096;
  constexpr unsigned char kCall = 0xe8;
  if (to <= from || to - from > kFar) return false;
  const auto entry = reinterpret_cast<uint64_t>(&__sanitizer_cov_trace_pc);
  for (uint64_t at = from; at + 5 <= to; ++at) {
    const auto* code = reinterpret_cast<const unsigned char*>(at);
    if (*code != kCall) continue;
    int32_t distance;
    std::memcpy(&distance, code + 1, sizeof(distance));
    if (at + 5 + static_cast<uint64_t>(static_cast<int64_t>(distance)) == entry) return false;
  }
  return true;
}

// The races between blocks, and between threads in global memory, that are faults.
void add_block_races(const std::vector<BlockRace>& races,
                     const std::vector<GlobalCheck::TestAndSet>& test_and_set,
                     std::vector<Fault>& faults) {
  const uint64_t base = program_base();
  for (const BlockRace& race : races) {
    const Fault& fault = race.fault;
    // A word that is tested and then set, by all to the same value, may be set once too often. Who reads it
    // meanwhile finds it set or not.
    const bool one_reads = fault.store != fault.other_store;
    const auto store_pc = static_cast<uint32_t>((fault.store ? fault.pc : fault.other_pc) - base);
    if (one_reads && !race.varies &&
        std::any_of(test_and_set.begin(), test_and_set.end(), [&](const auto& pair) {
          // `*sum += 1` tests nothing.
          return pair.store_pc == store_pc &&
                 !is_straight(base + pair.load_pc, base + pair.store_pc);
        })) {
      continue;
    }
    faults.push_back(fault);
  }
}

}  // namespace

void run(const char* kernel_text, const Config& config, void (*entry)(void*), void* closure,
         const detail::Argument* arguments, unsigned count) {
  // One launch at a time, until what its blocks have left is collected: they share the workers.
  static auto* const one_at_a_time = new std::mutex;  // outlives static destructors
  const std::lock_guard lock(*one_at_a_time);
  if (device::sticky_error()) return;
  std::string why;
  if (const cudaError_t error = check_configuration(config, why)) {
    device::explain(std::move(why), kernel_text);
    device::result(error);
    return;
  }
  Sampling::Kind& kind = Sampling::instance().kind(config, entry);
  uint64_t& accesses = kind.accesses;
  LaunchRecord record;
  record.grid = config.grid;
  record.block = config.block;
  const bool compares = traced_program && arguments && !config.cooperative;
  LaunchKey key;
  auto known = repeats::Known::nothing;
  bool learns = false;
  if (compares) {
    key = key_of(config, entry, {arguments, count});
    known = repeats::look_up(key, record.kernel);
    if (known == repeats::Known::all && Sampling::is_enough(accesses)) {
      device::finish_launch(std::move(record), {});
      return;
    }
    record.kernel.clear();
    // Others of its kind repeat, and this one comes again and again, with arguments of its own: counted in full
    // once more, it is known as well.
    if (known == repeats::Known::nothing && kind.repeats && Sampling::is_enough(accesses)) {
      const unsigned times = repeats::missed(key);
      learns = times >= 4 && std::has_single_bit(times);
    }
  }

  Grid grid;
  grid.grid = config.grid;
  grid.block = config.block;
  grid.dynamic_shared = config.shared;
  grid.entry = entry;
  grid.closure = closure;
  grid.kernel = reinterpret_cast<uint64_t>(config.kernel);
  grid.step_budget = environment_number("SIMT_STEPS", uint64_t{1} << 24);
  grid.traced = traced_program;
  const char* ahead = std::getenv("SIMT_AHEAD");
  grid.run_ahead = !ahead || std::string_view(ahead) != "0";
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const uint64_t wanted = learns ? blocks : Sampling::wanted(blocks, accesses);
  grid.stride = wanted < blocks ? (blocks + wanted - 1) / wanted : 1;
  grid.checks_blocks = grid.traced && grid.stride == 1 && blocks < uint64_t{1} << 31;
  if (grid.checks_blocks) shadow::begin_phase(blocks);
  choose_stacks(grid.kernel);
  Patience::begin_launch();
  std::optional<GridBarrier> barrier;
  if (config.cooperative) grid.barrier = &barrier.emplace(blocks, grid.checks_blocks);
  const uint64_t before = memory::latest_version();
  Pool::instance().run(grid);

  record.traced_blocks = grid.traced ? (blocks + grid.stride - 1) / grid.stride : 0;
  uint64_t kernel_pc = 0;
  std::vector<Fault> faults;
  std::vector<BlockRace> races;
  std::vector<GlobalCheck::TestAndSet> test_and_set;
  std::vector<TestedAtomic> tested_atomics;
  Effects effects;
  Pool::instance().for_each_worker([&](Worker& worker) {
    effects.add(worker.effects);
    worker.effects.clear();
    worker.trace.for_each([&](uint64_t pc, const Counts& counts) { record.by_pc[pc] += counts; });
    for (const auto& [pc, example] : worker.trace.examples()) {
      Example& kept = record.examples[pc];
      if (example.is_better_than(kept)) kept = example;
    }
    if (!worker.trace.empty()) worker.trace.clear();
    for (const BlockRace& race : worker.block_races) merge(races, race);
    worker.block_races.clear();
    worker.thread_races.begin_launch();
    test_and_set.insert(test_and_set.end(), worker.global.test_and_set.begin(),
                        worker.global.test_and_set.end());
    worker.global.test_and_set.clear();
    const auto pairs = worker.races.tested_atomics();
    tested_atomics.insert(tested_atomics.end(), pairs.begin(), pairs.end());
    worker.races.forget_tested_atomics();
    if (worker.kernel_pc) kernel_pc = worker.kernel_pc;
    worker.kernel_pc = 0;
    for (const Fault& fault : worker.faults) {
      Fault* known = nullptr;
      for (Fault& other : faults) {
        if (other.kind == fault.kind && other.pc == fault.pc && other.other_pc == fault.other_pc) {
          known = &other;
        }
      }
      if (!known) {
        faults.push_back(fault);
      } else if (linear_block(config.grid, fault.block) < linear_block(config.grid, known->block)) {
        *known = fault;
      }
    }
    worker.faults.clear();
  });
  if (!grid.checks_blocks || record.by_pc.empty()) memory::mark_all_written();
  add_block_races(races, test_and_set, faults);
  std::erase_if(faults, [&](const Fault& fault) {
    if (fault.kind != Fault::Kind::shared_race || fault.store == fault.other_store) return false;
    const auto offset = [](uint64_t pc) { return static_cast<uint32_t>(pc - program_base()); };
    const TestedAtomic pair = fault.store ? TestedAtomic{offset(fault.other_pc), offset(fault.pc)}
                                          : TestedAtomic{offset(fault.pc), offset(fault.other_pc)};
    return std::find(tested_atomics.begin(), tested_atomics.end(), pair) != tested_atomics.end();
  });
  // A read that races with the first write may come before it: then the race is the news.
  std::erase_if(faults, [all = faults](const Fault& fault) {
    const bool is_global = fault.kind == Fault::Kind::global_uninitialized;
    if (!is_global && fault.kind != Fault::Kind::shared_uninitialized) return false;
    const auto race = is_global ? Fault::Kind::global_race : Fault::Kind::shared_race;
    return std::any_of(all.begin(), all.end(), [&](const Fault& other) {
      return other.kind == race && (other.pc == fault.pc || other.other_pc == fault.pc);
    });
  });
  for (const auto& [pc, counts] : record.by_pc) accesses += accesses_of(counts);
  record.kernel = kernel_pc ? symbols::function_name(kernel_pc) : std::string();
  if (record.kernel.empty()) record.kernel = kernel_text;
  if (compares && known == repeats::Known::what_it_writes && faults.empty()) {
    repeats::remember_again(key);
  } else if (compares && grid.checks_blocks && faults.empty()) {
    kind.repeats = repeats::remember(std::move(key), record.kernel, effects, before);
  } else {
    memory::note_stored_anywhere();
  }
  // Who waits for a block that another fault has ended waits for ever.
  const bool others = std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
    return fault.kind != Fault::Kind::hang && ends_the_kernel(fault.kind);
  });
  bool hangs = others;  // and all others wait with the first that does
  std::stable_sort(faults.begin(), faults.end(), [&](const Fault& a, const Fault& b) {
    return linear_block(config.grid, a.block) < linear_block(config.grid, b.block);
  });
  std::erase_if(faults, [&hangs](const Fault& fault) {
    return fault.kind == Fault::Kind::hang && std::exchange(hangs, true);
  });
  keep_one_for_each_pair_of_lines(faults, Fault::Kind::shared_race);
  keep_one_for_each_pair_of_lines(faults, Fault::Kind::global_race);
  device::finish_launch(std::move(record), faults);
}

}  // namespace simt::engine

void simt::detail::run_grid(const char* kernel_text, const Config& config, void (*entry)(void*),
                            void* closure, const Argument* arguments, unsigned count) {
  engine::run(kernel_text, config, entry, closure, arguments, count);
}
