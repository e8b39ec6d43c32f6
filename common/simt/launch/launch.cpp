// A launch: the configuration checked, the blocks given to the workers, their counts merged.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/branch.h"
#include "base/lasting.h"
#include "base/program.h"
#include "base/settings.h"
#include "base/symbols.h"
#include "check/beside_host.h"
#include "check/constants.h"
#include "check/host_texts.h"
#include "check/managed_results.h"
#include "check/strays.h"
#include "check/stream_order.h"
#include "check/stream_races.h"
#include "check/touched_sectors.h"
#include "compiled/execution.h"
#include "launch/arguments.h"
#include "launch/child_launches.h"
#include "launch/configuration.h"
#include "launch/device_limits.h"
#include "launch/forked_child.h"
#include "launch/kernel_registry.h"
#include "launch/launch_memo.h"
#include "launch/life_sign.h"
#include "launch/race_policy.h"
#include "launch/sampling.h"
#include "launch/worker_pool.h"
#include "memory/allocations.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/kernel_text.h"
#include "report/log.h"
#include "report/unread_results.h"

// What each block of traced code calls first.
extern "C" void __sanitizer_cov_trace_pc();

namespace simt::engine {
namespace {

LaunchKey key_of(const LaunchShape& shape, std::span<const detail::Argument> arguments) {
  LaunchKey key{shape, {}};
  for (const detail::Argument& argument : arguments) {
    const auto* bytes = static_cast<const unsigned char*>(argument.data);
    key.arguments.insert(key.arguments.end(), bytes, bytes + argument.size);
  }
  return key;
}

bool is_child_without_threads(const char* kernel_text) {
  if (!is_forked_child()) return false;
  std::fprintf(stderr,
               "simt: the launch of %s does nothing: a child made by fork() cannot use the device, "
               "as its parent has used it before. Call fork() ahead of all calls of CUDA\n",
               kernel_text);
  device::result(cudaErrorInitializationError);
  return true;
}

std::string name_of(const Config& config, const char* kernel_text) {
  const auto kernel = reinterpret_cast<uint64_t>(config.kernel);
  const std::string name = kernel ? symbols::function_name(kernel + 1) : std::string();
  return name.empty() ? kernel_text : name;
}

}  // namespace

void run(const char* kernel_text, const Config& config, void (*entry)(void*), void* closure,
         const detail::Argument* arguments, unsigned count) {
  if (is_child_without_threads(kernel_text)) return;
  // One launch at a time, until what its blocks have left is collected: they share the workers.
  static auto* const one_at_a_time = new std::mutex;  // outlives static destructors
  const std::lock_guard lock(*one_at_a_time);
  if (device::has_failed()) return;
  std::string why;
  if (const cudaError_t error = check_configuration(config, why)) {
    device::explain(std::move(why), kernel_text);
    device::result(error);
    return;
  }
  device::launch_begins(kernel_text);
  const stream_order::Work work(config.stream);
  beside_host::is_work(work.queue(), work.number());
  if (arguments) check_arguments(kernel_text, {arguments, count});
  const LaunchShape shape = shape_of(config, entry);
  sampling::Launches& like_this = lasting<std::map<LaunchShape, sampling::Launches>>()[shape];
  device::Record record;
  std::string& kernel = record.launch.kernel;
  record.launch.grid = config.grid;
  record.launch.block = config.block;
  record.launch.is_sized_by_device =
      device::was_asked_for_multiprocessors || device::was_asked_for_residents;
  record.launch.dynamic_shared = static_cast<unsigned>(config.shared);
  const bool compares = traced_program && arguments && !config.cooperative;
  LaunchKey key;
  auto known = launch_memo::Known::nothing;
  bool learns = false;
  if (compares) {
    key = key_of(shape, {arguments, count});
    stream_races::Shared accesses;
    known = launch_memo::look_up(key, kernel, accesses);
    if (known == launch_memo::Known::all && sampling::is_enough(like_this)) {
      stream_races::note(kernel, std::move(accesses), true);
      device::finish_launch(std::move(record), {});
      return;
    }
    kernel.clear();
    // Others like this one repeat, and it comes again and again, with arguments of its own: counted in full once more, it
    // is known as well.
    if (known == launch_memo::Known::nothing && like_this.repeats &&
        sampling::is_enough(like_this)) {
      const unsigned times = launch_memo::missed(key);
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
  grid.all_return = arguments ? kernels::find(config.kernel).all_return : nullptr;
  grid.arguments = arguments;
  grid.step_budget = settings::steps(uint64_t{1} << 24);
  grid.traced = traced_program;
  grid.recorded = settings::recorded();
  grid.run_ahead = settings::runs_ahead() && !grid.recorded;
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const uint64_t wanted = learns ? blocks : sampling::wanted(blocks, like_this);
  grid.stride = wanted < blocks ? (blocks + wanted - 1) / wanted : 1;
  grid.checks_blocks = grid.traced && grid.stride == 1 && blocks < uint64_t{1} << 31;
  if (grid.checks_blocks) shadow::begin_phase(blocks);
  choose_stacks(grid.kernel);
  constants::prepare();
  managed_results::before_launch();
  host_texts::note_arguments({arguments, arguments ? count : 0});
  Patience::begin_launch();
  child_launches::begin_grid();
  std::optional<GridBarrier> barrier;
  if (config.cooperative)
    grid.barrier = &barrier.emplace(blocks, grid.checks_blocks, settings::threads() == 1);
  const uint32_t first = first_block;
  const uint64_t before = memory::latest_version();
  Pool& pool = Pool::instance();
  life_sign::begin({kernel_text, grid.traced, blocks, &pool.next_block(), pool.threads_for(grid),
                    patience_of(grid)});
  if (arguments) {
    compiled::begin(static_cast<int>(launch_count()), name_of(config, kernel_text), config,
                    {arguments, count});
  }
  pool.run(grid);
  life_sign::end();

  record.launch.traced_blocks = grid.traced ? (blocks + grid.stride - 1) / grid.stride : 0;
  uint64_t kernel_pc = 0;
  std::vector<Fault> faults;
  std::vector<BlockRace> races;
  std::vector<BlockRaceCheck::TestAndSet> test_and_set;
  std::vector<TestedAtomic> tested_atomics;
  Footprint footprint;
  WordTally atomics;
  Pool::instance().for_each_worker([&](Worker& worker) {
    Monitor& monitor = worker.monitor;
    footprint.add(monitor.global_checker.footprint);
    monitor.global_checker.footprint.clear();
    CountTable& table = monitor.counter.table;
    table.for_each([&](uint64_t pc, const Counts& counts) {
      // Lanes part at the end of a block, and that is known by its beginning, or by its last access.
      Counts own = counts;
      if (const uint64_t parted = std::exchange(own.divergent_branches, 0)) {
        const auto hook = reinterpret_cast<uint64_t>(&__sanitizer_cov_trace_pc);
        record.by_pc[branch_behind(pc, hook)].divergent_branches += parted;
        if (own == Counts{}) return;
      }
      record.by_pc[pc] += own;
    });
    for (const auto& [pc, example] : table.examples()) {
      Example& kept = record.examples[pc];
      if (example.is_better_than(kept)) kept = example;
    }
    const Recording::Steps& steps = monitor.recording.steps();
    record.steps.insert(record.steps.end(), steps.begin(), steps.end());
    monitor.recording.clear();
    table.for_each_poll([&](uint64_t pc, uint64_t polls) { record.polls[pc] += polls; });
    if (!table.empty()) table.clear();
    atomics.add(monitor.counter.atomics);
    monitor.counter.atomics.clear();
    for (const BlockRace& race : monitor.block_races.all()) merge(races, race);
    monitor.block_races.clear();
    monitor.thread_checker.races.begin_launch();
    test_and_set.insert(test_and_set.end(), monitor.global_checker.blocks.test_and_set.begin(),
                        monitor.global_checker.blocks.test_and_set.end());
    monitor.global_checker.blocks.test_and_set.clear();
    const auto pairs = monitor.shared_checker.races.tested_atomics();
    tested_atomics.insert(tested_atomics.end(), pairs.begin(), pairs.end());
    monitor.shared_checker.races.forget_tested_atomics();
    if (worker.kernel_pc) kernel_pc = worker.kernel_pc;
    worker.kernel_pc = 0;
    for (const Fault& fault : monitor.faults.all()) {
      Fault* known = nullptr;
      for (Fault& other : faults) {
        if (other.kind == fault.kind && other.pc == fault.pc && other.other_pc == fault.other_pc) {
          known = &other;
        }
      }
      if (!known) {
        faults.push_back(fault);
        continue;
      }
      const Fault::Cause cause = std::max(known->cause, fault.cause);
      const unsigned lanes = known->lanes + fault.lanes;
      if (linear_block(config.grid, fault.block) < linear_block(config.grid, known->block))
        *known = fault;
      known->cause = cause;
      if (!ends_the_kernel(fault.kind)) known->lanes = lanes, known->again = true;
    }
    monitor.faults.clear();
  });
  if (!grid.checks_blocks || record.by_pc.empty()) memory::mark_all_written();
  add_block_races(races, test_and_set, faults);
  uint64_t accesses_of_lanes = 0;
  for (const auto& [pc, counts] : record.by_pc) {
    accesses_of_lanes += sampling::accesses_of(counts);
  }
  like_this.accesses += accesses_of_lanes;
  if (grid.checks_blocks)
    record.launch.touched = touched_sectors(footprint, first, accesses_of_lanes);
  record.launch.atomics_on_one_word = atomics.most();
  if (kernel_pc) kernel = symbols::function_name(kernel_pc);
  if (kernel.empty()) kernel = kernel_text;
  device::note_results(kernel, footprint,
                       grid.checks_blocks && faults.empty() && !record.by_pc.empty());
  device::note_text_of(kernel);
  stream_races::Shared accesses;
  if (grid.checks_blocks && faults.empty()) accesses = stream_races::of_launch(footprint, first);
  if (grid.checks_blocks && faults.empty() && arguments)
    strays::look_for(kernel, {arguments, count}, footprint);
  // Who has waited for the host, and perhaps answered, is in step with it.
  if (!beside_host::has_let_go()) {
    managed_results::note_launch(footprint, accesses);
    stream_races::note(kernel, accesses);
  }
  if (compares && known == launch_memo::Known::what_it_writes && faults.empty()) {
    launch_memo::remember_again(key);
  } else if (compares && grid.checks_blocks && faults.empty()) {
    like_this.repeats =
        launch_memo::remember(std::move(key), kernel, footprint, std::move(accesses), before);
  } else {
    memory::note_stored_anywhere();
  }
  record.launch.reads_textures = footprint.reads_textures();
  if (config.has_virtual) {
    Fault fault;
    fault.kind = Fault::Kind::virtual_parameter;
    fault.pc = grid.kernel ? grid.kernel + 1 : kernel_pc;  // inside, as that of an access
    faults.push_back(fault);
  }
  drop_needless(faults, tested_atomics, config.grid);
  if (const cudaError_t error = device::finish_launch(std::move(record), faults)) {
    device::set_sticky_error(error);
  }
  child_launches::take(config.stream);
}

}  // namespace simt::engine

void simt::detail::run_grid(const char* kernel_text, const Config& config, void (*entry)(void*),
                            void* closure, const Argument* arguments, unsigned count) {
  engine::run(kernel_text, config, entry, closure, arguments, count);
  engine::child_launches::run();
}
