// A launch: the configuration checked, the blocks given to the workers, their counts merged.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/device_limits.h"
#include "base/devices.h"
#include "base/lasting.h"
#include "base/settings.h"
#include "compiled/execution.h"
#include "ending/result_extents.h"
#include "ending/unread_results.h"
#include "launch/arguments.h"
#include "launch/configuration.h"
#include "launch/first_infinite.h"
#include "launch/forked_child.h"
#include "launch/kernel_registry.h"
#include "launch/life_sign.h"
#include "launch/race_policy.h"
#include "launch/sampling.h"
#include "launch/side_by_side.h"
#include "launch/worker_pool.h"
#include "memory/allocations.h"
#include "memory/constants.h"
#include "memory/host_texts.h"
#include "program/branch.h"
#include "program/program.h"
#include "program/symbols.h"
#include "races/touched_sectors.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/kernel_text.h"
#include "report/log.h"
#include "streams/beside_host.h"
#include "streams/order.h"
#include "streams/races.h"
#include "streams/schedule.h"
#include "watch/managed_results.h"
#include "watch/random_states.h"
#include "watch/strays.h"

// What each block of traced code calls first.
extern "C" void __sanitizer_cov_trace_pc();

namespace simt::engine {
namespace {

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
  const int on_device = devices::current();
  beside_host::wait_for(on_device);
  side_by_side::Lock lock = side_by_side::lock();
  if (device::has_failed()) return;
  std::string why;
  if (const cudaError_t error = check_configuration(config, why)) {
    device::explain(std::move(why), kernel_text);
    device::result(error);
    return;
  }
  if (const int other = stream_order::device_of(config.stream); other != on_device) {
    device::explain("the stream is one of device " + std::to_string(other) +
                        ", and the current device is " + std::to_string(on_device) +
                        ": call cudaSetDevice(" + std::to_string(other) + ") before the launch",
                    kernel_text);
    device::result(cudaErrorInvalidResourceHandle);
    return;
  }
  device::launch_begins(kernel_text);
  lock.unlock();  // it may wait for what is under way
  const stream_order::Work work(config.stream);
  lock.lock();
  side_by_side::Launch launch(lock, on_device);
  if (arguments) check_arguments(kernel_text, {arguments, count});
  const LaunchShape shape = shape_of(config, entry);
  uint64_t& counted_like_this = lasting<std::map<LaunchShape, uint64_t>>()[shape];  // accesses
  device::Record record;
  std::string& kernel = record.launch.kernel;
  record.launch.device = on_device;
  record.launch.grid = config.grid;
  record.launch.block = config.block;
  record.launch.is_sized_by_device =
      device::was_asked_for_multiprocessors || device::was_asked_for_residents;
  record.launch.dynamic_shared = static_cast<unsigned>(config.shared);

  Grid grid;
  grid.grid = config.grid;
  grid.block = config.block;
  grid.dynamic_shared = config.shared;
  grid.entry = entry;
  grid.closure = closure;
  grid.kernel = reinterpret_cast<uint64_t>(config.kernel);
  grid.step_budget = settings::steps(uint64_t{1} << 24);
  grid.device = on_device;
  grid.beside = beside_host::of_this_thread();
  grid.traced = traced_program;
  grid.recorded = settings::recorded();
  grid.run_ahead = settings::runs_ahead() && !grid.recorded;
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const uint64_t wanted = sampling::wanted(blocks, counted_like_this);
  grid.stride = wanted < blocks ? (blocks + wanted - 1) / wanted : 1;
  grid.checks_blocks = grid.traced && grid.stride == 1 && blocks < uint64_t{1} << 31;
  Pool& pool = Pool::of(on_device);
  std::optional<GridBarrier> barrier;
  if (config.cooperative)
    grid.barrier = &barrier.emplace(blocks, grid.checks_blocks && !launch.has_company(),
                                    settings::threads() == 1);
  std::optional<Cluster> cluster;
  const dim3 of_cluster = kernels::cluster_of(config);
  const uint64_t cluster_size = uint64_t{of_cluster.x} * of_cluster.y * of_cluster.z;
  if (cluster_size > 1) grid.cluster = &cluster.emplace(grid.grid, grid.block, of_cluster);
  grid.checks_blocks = launch.begin(grid, pool.threads_for(grid), config.cooperative);
  if (!launch.has_company()) choose_stacks(grid.kernel, devices::any_open);
  constants::prepare();
  managed_results::before_launch();
  host_texts::note_arguments({arguments, arguments ? count : 0});
  Patience::begin_launch();
  life_sign::begin({kernel_text, on_device, grid.traced, blocks, &pool.next_block(),
                    pool.threads_for(grid), grid.beside});
  // Nobody sees what order it keeps: on a GPU the host goes on at once.
  if (!grid.traced && devices::any_open) beside_host::let_go(grid.beside, beside_host::For::device);
  if (arguments) {
    Config as_it_is = config;
    as_it_is.cluster = of_cluster;
    compiled::begin(static_cast<int>(launch_count()), name_of(config, kernel_text), as_it_is,
                    {arguments, count});
  }
  lock.unlock();
  pool.run(grid);
  lock.lock();
  life_sign::end(on_device);
  if (grid.checks_blocks) launch.end();

  const uint64_t sampled = (blocks / cluster_size + grid.stride - 1) / grid.stride * cluster_size;
  record.launch.traced_blocks = grid.traced ? sampled : 0;
  uint64_t kernel_pc = 0;
  std::vector<Fault> faults;
  std::vector<BlockRace> races;
  std::vector<BlockRaceCheck::TestAndSet> test_and_set;
  std::vector<TestedAtomic> tested_atomics;
  Footprint footprint;
  WordTally atomics;
  pool.for_each_worker([&](Worker& worker) {
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
  counted_like_this += accesses_of_lanes;
  if (grid.checks_blocks)
    record.launch.touched = touched_sectors(footprint, launch.member(), accesses_of_lanes);
  record.launch.atomics_on_one_word = atomics.most();
  if (kernel_pc) kernel = symbols::function_name(kernel_pc);
  if (kernel.empty()) kernel = kernel_text;
  const bool seen = grid.checks_blocks && faults.empty() && !record.by_pc.empty();
  device::note_results(kernel, footprint, seen);
  const uint64_t threads = uint64_t{config.block.x} * config.block.y * config.block.z;
  device::note_extents(kernel, footprint, blocks * threads, threads, seen);
  device::note_text_of(kernel);
  random_states::end_launch(kernel);
  stream_races::Shared accesses;
  if (grid.checks_blocks && faults.empty())
    accesses = stream_races::of_launch(footprint, launch.member(), config.is_programmatic);
  if (grid.checks_blocks && faults.empty() && arguments)
    strays::look_for(kernel, {arguments, count}, footprint);
  if (seen && arguments)
    first_infinite::after_launch(kernel, grid.kernel ? grid.kernel + 1 : kernel_pc,
                                 {arguments, count}, footprint, launch.member(), accesses_of_lanes,
                                 grid, pool.caller_worker());
  // Who has waited for the host, and perhaps answered, is in step with it.
  if (!beside_host::has_let_go(grid.beside)) {
    managed_results::note_launch(footprint, accesses);
    stream_schedule::note(kernel);
    stream_races::note(kernel, std::move(accesses), launch.beside());
  }
  record.launch.reads_textures = footprint.reads_textures();
  drop_needless(faults, tested_atomics, config.grid);
  if (const cudaError_t error = device::finish_launch(std::move(record), faults)) {
    device::set_sticky_error(error);
  }
}

}  // namespace simt::engine

void simt::detail::run_grid(const char* kernel_text, const Config& config, void (*entry)(void*),
                            void* closure, const Argument* arguments, unsigned count) {
  engine::run(kernel_text, config, entry, closure, arguments, count);
}
