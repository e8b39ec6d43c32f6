#include "memory/watched.h"

#include <simt/simt.h>

#include <mutex>

#include "base/lasting.h"
#include "memory/allocations.h"
#include "program/symbols.h"

namespace simt {
namespace engine {

uint64_t watched_begin = 0, watched_end = 0;

namespace {

struct Last {
  std::mutex mutex;
  uint64_t writes = 0, pc = 0;
  uint3 block{}, thread{};
};

Last& last() { return lasting<Last>(); }

struct Transfers {
  std::mutex mutex;
  bool kept = false;
  std::vector<Transfer> all;
};

Transfers& kept_transfers() { return lasting<Transfers>(); }

}  // namespace

void note_writer(uint64_t pc, uint3 block, uint3 thread) {
  Last& writer = last();
  const std::lock_guard lock(writer.mutex);
  ++writer.writes;
  writer.pc = pc;
  writer.block = block;
  writer.thread = thread;
}

std::optional<LastStore> last_store() {
  const Last& writer = last();
  if (!writer.writes) return std::nullopt;
  return LastStore{writer.pc, writer.thread};
}

void note_transfer(const void* to, const void* from, uint64_t span) {
  const bool to_device = memory::in_device_arena(reinterpret_cast<uint64_t>(to));
  if (to_device == memory::in_device_arena(reinterpret_cast<uint64_t>(from))) return;
  Transfers& transfers = kept_transfers();
  const std::lock_guard lock(transfers.mutex);
  if (transfers.kept) transfers.all.push_back({to_device ? to : from, span, to_device});
}

}  // namespace engine

void watch(const void* begin, std::size_t bytes) {
  engine::last().writes = 0;
  engine::watched_begin = reinterpret_cast<uint64_t>(begin);
  engine::watched_end = engine::watched_begin + bytes;
}

std::optional<Writer> last_writer() {
  const engine::Last& writer = engine::last();
  if (!writer.writes) return std::nullopt;
  const symbols::Location& at = symbols::locate(writer.pc);
  return Writer{writer.block, writer.thread, at.file, at.line, writer.writes};
}

void watch_transfers(bool on) {
  engine::Transfers& transfers = engine::kept_transfers();
  if (on) transfers.all.clear();
  transfers.kept = on;
}

const std::vector<Transfer>& transfers() { return engine::kept_transfers().all; }

}  // namespace simt
