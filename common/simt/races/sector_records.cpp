#include "races/sector_records.h"

#include <algorithm>
#include <new>

#include "memory/allocations.h"

namespace simt::engine {
namespace {

constexpr uint64_t kShards = 64;

// There before the program's own static objects, whose constructors may launch kernels; outlives the workers.
template <class T>
union Lasting {
  Lasting() { new (&value) T; }
  ~Lasting() {}
  T value;
};
[[gnu::init_priority(104)]] Lasting<CodeSites> lasting_sites;
[[gnu::init_priority(104)]] Lasting<Phase> lasting_phase;

}  // namespace

constinit CodeSites* const sites = &lasting_sites.value;
constinit Phase& the_phase = lasting_phase.value;
uint32_t first_block = 1;

OverflowSectors& overflow(uint64_t sector) {
  static auto* shards = new OverflowSectors[kShards];
  return shards[sector / kSector % kShards];
}

SectorUse use_of_cell(const ShadowCell& cell, uint64_t sector, const Member& launch) {
  SectorUse use;
  for_each_record(cell, sector, [&](const AccessRecord& record) {
    if (!launch.holds(record.block)) return;
    switch (record.kind) {
      case AccessKind::read:
        use.read |= record.bytes;
        break;
      case AccessKind::write:
        use.written |= record.bytes;
        break;
      default:
        use.atomic |= record.bytes;
    }
  });
  use.reads_first = use.read && !use.written && !use.atomic;
  return use;
}

void inflate(ShadowWord& word, ShadowCell& cell) {
  const uint64_t wide = uint64_t{first_block} << 32 | ShadowWord::kInflated;
  uint64_t now = word.all.load(std::memory_order_acquire);
  do {
    if (is_inflated(now)) return;
    if (block_of(now) < first_block) continue;
    while (now & ShadowWord::kBusy) now = word.all.load(std::memory_order_acquire);
    const CodeSite& site = site_of(now);
    int i = 0;
    if (const uint32_t read = now & 0xff) {
      put(cell, i++,
          {block_of(now), bytes_of_words(read), site.load_pc, site.epoch(), AccessKind::read});
    }
    if (const uint32_t stored = now >> 8 & 0xff) {
      put(cell, i,
          {block_of(now), bytes_of_words(stored), site.store_pc, site.epoch(), AccessKind::write});
    }
  } while (!word.all.compare_exchange_strong(now, wide));
}

namespace shadow {

void begin_phase(uint64_t blocks) {
  Phase& p = phase();
  if (p.next > ~uint32_t{0} - blocks) {  // numbers have run out: forget all that was noted
    memory::mark_all_written();
    forget_all();
    p.next = 1;
  }
  first_block = p.next;
  p.next += static_cast<uint32_t>(blocks);
  p.has_fences = false;
  p.clocks.clear();
  p.members.clear();
  if (sites->numbers.size() > CodeSites::kMost / 2) {  // only records of earlier phases name them
    sites->numbers.clear();
    ++sites->generation;
  }
  for (uint64_t i = 0; i < kShards; ++i) overflow(i * kSector).records.clear();
}

std::optional<uint32_t> join_phase(uint64_t blocks) {
  Phase& p = phase();
  if (p.next > ~uint32_t{0} - blocks) return {};
  const uint32_t offset = p.next - first_block;
  p.next += static_cast<uint32_t>(blocks);
  return offset;
}

void add_member(const Member& member) {
  const Guard guard(phase().lock);
  phase().members.push_back(member);
}

void end_member(const Member& ended) {
  Phase& p = phase();
  const Guard guard(p.lock);
  const auto found = std::find_if(p.members.begin(), p.members.end(), [&](const Member& member) {
    return member.first == ended.first;
  });
  if (found == p.members.end()) return;  // behind a barrier of its grid
  Member& member = *found;
  for (const auto& [block, clock] : p.clocks) {
    if (member.holds(block)) member.known.add(clock);
  }
  const VectorClock::Run own{member.first, member.last, ~uint32_t{0}};
  member.known.add(&own, 1);
  member.has_ended = true;
}

}  // namespace shadow
}  // namespace simt::engine
