#include "streams/schedule.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/settings.h"
#include "memory/allocations.h"
#include "report/api_errors.h"
#include "report/log.h"
#include "streams/order.h"

namespace simt::stream_schedule {
namespace {

// Of a program with more work the first part is kept, whole rounds of it.
constexpr size_t kMost = 4096;

// The round under way.
struct State {
  std::mutex mutex;
  size_t kept = 0;  // in all rounds
  // Of each queue the numbers of its work, and where it stands in the round.
  std::map<uint32_t, std::vector<std::pair<uint64_t, size_t>>> queues;
  std::map<uint32_t, int> streams;  // as they are numbered in the round; 0: a default stream
};

bool is_over(const State& s) {
  return std::all_of(s.queues.begin(), s.queues.end(), [](const auto& queue) {
    return stream_order::is_done(queue.first, queue.second.back().first);
  });
}

// The work that this one has to wait for: of each queue the last.
std::vector<size_t> waits_for(const State& s, const stream_order::Work& work) {
  std::vector<size_t> after;
  for (const auto& [queue, done] : s.queues) {
    const uint64_t last = queue == work.queue() ? work.number() : work.known().of(queue);
    const auto behind =
        std::upper_bound(done.begin(), done.end(), last,
                         [](uint64_t number, const auto& entry) { return number < entry.first; });
    if (behind != done.begin()) after.push_back(std::prev(behind)->second);
  }
  return after;
}

bool is_kept() { return settings::trace_file() && stream_order::has_queues(); }

}  // namespace

void note(const std::string& what) {
  const stream_order::Work* const work = stream_order::Work::current();
  if (!work || !is_kept()) return;
  State& s = lasting<State>();
  const std::lock_guard lock(s.mutex);
  device::Log& log = device::log();
  const std::lock_guard log_lock(log.mutex);
  if (s.kept == kMost) {
    if (!log.rounds.empty()) log.rounds.back().is_cut = true;
    return;
  }
  if (log.rounds.empty() || is_over(s)) {
    s.queues.clear();
    s.streams.clear();
    log.rounds.emplace_back();
  }
  device::Round& round = log.rounds.back();
  const uint32_t queue = work->queue();
  if (!stream_order::is_legacy(queue))
    s.streams.try_emplace(queue, static_cast<int>(s.streams.size()) + 1);
  const auto stream = s.streams.find(queue);
  std::vector<size_t> after = waits_for(s, *work);
  s.queues[queue].emplace_back(work->number(), round.work.size());
  round.work.push_back({.what = what,
                        .stream = stream == s.streams.end() ? 0 : stream->second,
                        .device = stream_order::device_of(queue),
                        .pc = device::program_caller(),
                        .after = std::move(after)});
  ++s.kept;
}

void note_copy(uint64_t to, uint64_t from) {
  if (!is_kept()) return;
  if (!from) {
    const std::string call = device::call_of(device::call_stack()).name;
    return note(call == "cudaMallocAsync" ? "malloc" : call == "cudaFreeAsync" ? "free" : "memset");
  }
  const bool is_out = memory::in_device_arena(from), is_in = memory::in_device_arena(to);
  if (is_out && is_in) {
    const memory::Allocation *const source = memory::find(from), *const target = memory::find(to);
    return note(source && target && source->device != target->device ? "PtoP" : "DtoD");
  }
  note(is_out ? "DtoH" : is_in ? "HtoD" : "copy");
}

}  // namespace simt::stream_schedule
