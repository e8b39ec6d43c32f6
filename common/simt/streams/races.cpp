#include "streams/races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "base/devices.h"
#include "base/lasting.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "memory/device_variables.h"
#include "program/program.h"
#include "program/program_image.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/log.h"
#include "report/places.h"
#include "streams/order.h"
#include "streams/schedule.h"

namespace simt::stream_races {

uint64_t begin = 0, extent = 0;

namespace {

using engine::kSector;

// Work that the host has not waited for.
struct Pending {
  uint32_t queue;
  uint64_t number;
  std::string kernel;           // empty if it is none
  std::vector<uint64_t> stack;  // of the call that asked for it
  Shared accesses;
  stream_order::Clock known;  // what it was behind
  Bytes shared;  // between the first and the last byte that the host shares; end 0: none
};

// The same for the reader.
struct Described {
  explicit Described(const Pending& work) {
    device::Call call = device::call_of(work.stack);
    is_step = call.name.starts_with("cudaGraph");
    what = !work.kernel.empty() ? work.kernel : is_step ? "a copy" : std::move(call.name);
    pc = call.pc;
  }
  std::string what;  // a kernel, or a function of the runtime
  bool is_step;      // of a graph
  uint64_t pc;
};

struct State {
  std::mutex mutex;
  std::deque<Pending> pending;
  std::set<uint64_t> told;  // calls
  std::set<std::vector<uint64_t>> told_stacks;
};
State& state() { return lasting<State>(); }

// Of more work at a time the oldest is forgotten.
constexpr size_t kMostPending = 1024;

void append(std::vector<Bytes>& runs, uint64_t begin, uint64_t end) {
  if (!runs.empty() && runs.back().end == begin) {
    runs.back().end = end;
  } else {
    runs.push_back({begin, end});
  }
}

// A bit for each byte of a sector.
void append_bits(std::vector<Bytes>& runs, uint64_t sector, uint32_t bits) {
  if (bits == ~uint32_t{0}) return append(runs, sector, sector + kSector);
  while (bits) {
    const auto first = static_cast<unsigned>(std::countr_zero(bits));
    const auto length = static_cast<unsigned>(std::countr_one(bits >> first));
    append(runs, sector + first, sector + first + length);
    if (first + length >= kSector) break;
    bits &= ~uint32_t{0} << (first + length);
  }
}

uint32_t changed_bytes(const engine::Region& region, uint64_t sector, uint32_t written) {
  const char* const before = region.image(sector);
  const auto* const now = reinterpret_cast<const char*>(sector);
  if (std::memcmp(before, now, kSector) == 0) return 0;
  uint32_t changed = 0;
  for (unsigned i = 0; i < kSector; ++i) changed |= uint32_t{before[i] != now[i]} << i;
  return changed & written;
}

// The first bytes that both have; empty if there are none.
Bytes common(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->end <= j->begin) {
      i = std::lower_bound(i, a.end(), j->begin,
                           [](const Bytes& run, uint64_t at) { return run.end <= at; });
    } else if (j->end <= i->begin) {
      j = std::lower_bound(j, b.end(), i->begin,
                           [](const Bytes& run, uint64_t at) { return run.end <= at; });
    } else {
      return {std::max(i->begin, j->begin), std::min(i->end, j->end)};
    }
  }
  return {0, 0};
}

struct Conflict {
  Bytes bytes;
  bool first_writes, second_writes;
};

Conflict conflict(const Accesses& first, const Accesses& second) {
  const struct {
    const std::vector<Bytes>&first, &second;
    bool first_writes, second_writes;
  } pairs[] = {
      {first.written, second.read, true, false},   {first.read, second.written, false, true},
      {first.atomic, second.read, true, false},    {first.read, second.atomic, false, true},
      {first.atomic, second.written, true, true},  {first.written, second.atomic, true, true},
      {first.written, second.changed, true, true},
  };
  for (const auto& pair : pairs) {
    const Bytes both = common(pair.first, pair.second);
    if (both.end) return {both, pair.first_writes, pair.second_writes};
  }
  return {};
}

std::string verb(const Described& work, bool writes) {
  if (work.what == "cudaFreeAsync") return "frees";
  if (work.what.starts_with("cudaMalloc")) return "allocates";
  return writes ? "writes" : "reads";
}

std::string on_device(int device) {
  return devices::count() > 1 ? " of device " + std::to_string(device) : std::string();
}

// Each line once, however much it comes in the way of.
void report(State& s, const Pending& first_work, const Pending& second_work,
            const Conflict& found) {
  const Described first(first_work), second(second_work);
  if (!s.told.insert(second.pc).second) return;
  const symbols::Location& at = symbols::locate(second.pc);
  Finding f = device::finding_at(at, "stream-race");
  f.address = found.bytes.begin;
  f.allocation = device::holder_of(found.bytes.begin);
  const bool in_graph = first.pc == second.pc && first.is_step && second.is_step;
  const int first_device = stream_order::device_of(first_work.queue);
  const int second_device = stream_order::device_of(second_work.queue);
  const bool is_across = first_device != second_device;
  const bool overlaps = first_work.queue == second_work.queue;
  const bool has_default =
      !is_across &&
      (stream_order::is_legacy(first_work.queue) || stream_order::is_legacy(second_work.queue)) &&
      !overlaps;
  f.message =
      second.what + on_device(second_device) + " at " + at.text() + " " +
      verb(second, found.second_writes) + " " + f.allocation + ", which " + first.what +
      (in_graph   ? " in another node of the graph "
       : overlaps ? " at " + symbols::locate(first.pc).text() + ", ahead of it in its stream, "
                  : on_device(first_device) + " at " + symbols::locate(first.pc).text() +
                        (is_across ? " " : " in another stream ")) +
      verb(first, found.first_writes) + ", and nothing orders the two" +
      (has_default ? ", since the default stream and those made with cudaStreamNonBlocking do "
                     "not wait for each other"
                   : "") +
      ": a GPU may run them in either order, or at once. " +
      (in_graph ? "Let one node depend on the other; in a capture by an event recorded "
                  "after the first, and cudaStreamWaitEvent() before the second."
       : overlaps
           ? "It was launched with cudaLaunchAttributeProgrammaticStreamSerialization, and so may "
             "begin before the kernel ahead of it has ended: let it call "
             "cudaGridDependencySynchronize() before it comes to what that kernel touches."
       : is_across
           ? "Record an event after the first, in a stream of its device, and let the stream of "
             "the "
             "second wait for it (cudaStreamWaitEvent); or let the kernels signal by a flag with "
             "the scope of the system."
           : "Record an event after the first and let the other stream wait for it "
             "(cudaStreamWaitEvent), use one stream for both, or call "
             "cudaDeviceSynchronize() between them.");
  device::report(std::move(f));
}

// Memory of the host's that the device reaches by itself.
bool is_shared(uint64_t address) {
  if (memory::in_shared_arena(address)) return true;
  const auto managed = reinterpret_cast<uint64_t>(simt_managed_begin);
  if (address - managed < reinterpret_cast<uint64_t>(simt_managed_end) - managed) return true;
  if (memory::in_device_arena(address) || engine::in_program_data(address)) return false;
  const memory::Allocation* found = memory::find(address);
  return found && !found->freed;
}

bool is_looked_at(uint64_t address) {
  if (is_shared(address) || memory::in_device_arena(address)) return true;
  return engine::in_program_data(address) && device_variables::of_host(address).empty();
}

// Forgets what the host has waited for. Under the mutex.
void prune(State& s) {
  std::erase_if(s.pending,
                [](const Pending& p) { return stream_order::is_done(p.queue, p.number); });
  uint64_t low = ~uint64_t{0}, high = 0;
  for (const Pending& p : s.pending) {
    if (p.shared.end == 0) continue;
    low = std::min(low, p.shared.begin);
    high = std::max(high, p.shared.end);
  }
  begin = high ? low : 0;
  extent = high ? high - low : 0;
}

// What lies between the first and the last byte that the host shares.
Bytes shared_part(const Accesses& accesses) {
  Bytes all{~uint64_t{0}, 0};
  for (const auto* runs : {&accesses.read, &accesses.written, &accesses.atomic}) {
    for (const Bytes& run : *runs) {
      if (!is_shared(run.begin)) continue;
      all = {std::min(all.begin, run.begin), std::max(all.end, run.end)};
    }
  }
  return all;
}

std::vector<Bytes> runs_of(const Rows& rows) {
  std::vector<Bytes> runs;
  const auto begin = reinterpret_cast<uint64_t>(rows.begin);
  if (!begin || !is_looked_at(begin)) return runs;
  for (size_t row = 0; row < rows.height; ++row)
    append(runs, begin + row * rows.pitch, begin + row * rows.pitch + rows.width);
  return runs;
}

}  // namespace

Shared of_launch(const engine::Footprint& footprint, const engine::Member& launch,
                 bool is_programmatic) {
  const bool all = stream_order::has_queues();
  auto accesses = std::make_shared<Accesses>();
  accesses->has_fence = footprint.has_fence();
  accesses->overlaps = is_programmatic && !footprint.has_waited();
  std::vector<engine::Touched> touched = footprint.touched();
  std::sort(touched.begin(), touched.end(),
            [](const auto& a, const auto& b) { return a.base < b.base; });
  for (const engine::Touched& t : touched) {
    const engine::Region* region = engine::shadow::region_of(t.low);
    if (!region || !(all || is_shared(t.base) || is_shared(t.low))) continue;
    if (const memory::Allocation* found = memory::find(t.low); found && found->freed) continue;
    for (uint64_t sector = t.low - t.low % kSector; sector < t.high; sector += kSector) {
      const engine::SectorUse use = engine::use_of(*region, sector, launch);
      append_bits(accesses->read, sector, use.read);
      append_bits(accesses->atomic, sector, use.atomic);
      if (!use.written) continue;
      append_bits(accesses->written, sector, use.written);
      append_bits(accesses->changed, sector, changed_bytes(*region, sector, use.written));
    }
  }
  for (const auto& [sector, bytes] : footprint.polled())
    append_bits(accesses->polled, sector, bytes);
  return accesses;
}

// By a flag: what has set it, a fence ahead of that, is ahead of who has seen it.
static bool signals(const Accesses& first, const Accesses& second) {
  return first.has_fence &&
         (common(first.atomic, second.polled).end || common(first.written, second.polled).end);
}

void note(std::string kernel, Shared accesses, const Beside& beside) {
  const stream_order::Work* const work = stream_order::Work::current();
  if (!work || !accesses) return;
  const Bytes shared = shared_part(*accesses);
  if (!stream_order::has_queues() && !shared.end) return;
  Pending mine{.queue = work->queue(),
               .number = work->number(),
               .kernel = std::move(kernel),
               .stack = device::call_stack(),
               .accesses = std::move(accesses),
               .known = work->known(),
               .shared = shared};
  State& s = state();
  const std::lock_guard lock(s.mutex);
  prune(s);
  const auto ran_beside = [&](const Pending& other) {
    return std::find(beside.begin(), beside.end(), std::pair(other.queue, other.number)) !=
           beside.end();
  };
  const auto end_of = [](const Pending& p) {
    stream_order::Clock clock = p.known;
    clock.advance(p.queue, p.number);
    return clock;
  };
  for (const Pending& other : s.pending) {
    if (work->is_behind(other.queue, other.number)) continue;
    if (signals(*other.accesses, *mine.accesses)) {
      work->learn(end_of(other));
      stream_order::wait_in(mine.queue, work->known());
    }
    if (ran_beside(other) && signals(*mine.accesses, *other.accesses))
      stream_order::wait_in(other.queue, end_of(mine));
  }
  mine.known = work->known();
  const auto is_behind = [&](const Pending& other) {
    const bool is_ahead = other.queue == mine.queue && other.number + 1 == mine.number;
    if (is_ahead && mine.accesses->overlaps && !other.kernel.empty()) return false;
    return work->is_behind(other.queue, other.number);
  };
  const bool is_told = !s.told_stacks.empty() && s.told_stacks.contains(mine.stack);
  for (auto other = s.pending.rbegin(); other != s.pending.rend() && !is_told; ++other) {
    if (is_behind(*other) || ran_beside(*other)) continue;
    const Conflict found = conflict(*other->accesses, *mine.accesses);
    if (!found.bytes.end) continue;
    s.told_stacks.insert(mine.stack);
    report(s, *other, mine, found);
    break;
  }
  // Who is behind this is behind what the queue did before: of the same accesses the last is enough.
  std::erase_if(s.pending, [&](const Pending& p) {
    return p.queue == mine.queue && p.stack == mine.stack && *p.accesses == *mine.accesses;
  });
  if (s.pending.size() == kMostPending) s.pending.pop_front();
  s.pending.push_back(std::move(mine));
  if (!shared.end) return;
  const uint64_t low = extent ? std::min(begin, shared.begin) : shared.begin;
  extent = std::max(begin + extent, shared.end) - low;
  begin = low;
}

void note_copy(const Rows& to, const Rows& from) {
  if (engine::traced_program) {
    auto accesses = std::make_shared<Accesses>();
    accesses->read = runs_of(from);
    accesses->changed = accesses->written = runs_of(to);
    note({}, std::move(accesses));
    stream_schedule::note_copy(reinterpret_cast<uint64_t>(to.begin),
                               reinterpret_cast<uint64_t>(from.begin));
  }
  // Into memory that is not pinned the call returns when it is done.
  if (!is_looked_at(reinterpret_cast<uint64_t>(to.begin)))
    stream_order::host_waits_for_stream(nullptr);
}

std::optional<Use> use_of_device(uint64_t address, uint64_t size, bool host_stores) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  prune(s);
  const std::vector<Bytes> mine = {{address, address + size}};
  for (auto p = s.pending.rbegin(); p != s.pending.rend(); ++p) {
    if (p->shared.begin >= address + size || p->shared.end <= address) continue;
    const Accesses& its = *p->accesses;
    const bool writes = common(its.written, mine).end || common(its.atomic, mine).end;
    if (!writes && !(host_stores && common(its.read, mine).end)) continue;
    const Described work(*p);
    return Use{work.what, work.pc, writes};
  }
  return {};
}

void host_polls(uint64_t address, uint64_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::vector<Bytes> mine = {{address, address + size}};
  for (const Pending& p : s.pending) {
    if (!p.accesses->has_fence) continue;
    if (!common(p.accesses->written, mine).end && !common(p.accesses->atomic, mine).end) continue;
    std::erase_if(s.pending, [queue = p.queue, number = p.number](const Pending& other) {
      return other.queue == queue && other.number <= number;
    });
    break;
  }
  prune(s);
}

}  // namespace simt::stream_races
