#include "memory/shadow.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "memory/allocations.h"
#include "program/program_image.h"

namespace simt::engine::shadow {

Region regions[3];

namespace {

// Address space without memory behind it until it is touched; zero at first.
char* reserve(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("simt: cannot reserve address space for the checks of global memory");
    std::_Exit(1);
  }
  madvise(p, bytes, MADV_DONTDUMP);
  // A column of a matrix is on as many small pages as it has rows.
  madvise(p, bytes, MADV_HUGEPAGE);
  return static_cast<char*>(p);
}

Region make_region(uint64_t base, uint64_t size, bool has_written) {
  Region region{base, size, has_written};
  region.words = reinterpret_cast<ShadowWord*>(reserve(size / kSector * sizeof(ShadowWord)));
  region.cells = reinterpret_cast<ShadowCell*>(reserve(size));
  region.before = reserve(size);
  return region;
}

// After memory/allocations.cpp's own, which it asks for the ranges.
[[gnu::constructor(103)]] void reserve_shadow() {
  regions[0] = make_region(memory::device_base, memory::kArenaBytes, true);
  regions[1] = make_region(memory::shared_base, memory::kArenaBytes, false);
  const ProgramImage& program = program_image();
  const uint64_t begin = program.data_begin - program.data_begin % kLine;
  regions[2] = make_region(begin, (program.data_end - begin + kLine) / kLine * kLine, false);
}

}  // namespace

void forget(uint64_t address, uint64_t size) {
  constexpr uint64_t kPage = 4096;
  const Region* region = region_of(address);
  if (!region) return;
  const auto discard = [](const void* begin, uint64_t bytes) {
    const uint64_t first = (reinterpret_cast<uint64_t>(begin) + kPage - 1) / kPage * kPage;
    const uint64_t end = (reinterpret_cast<uint64_t>(begin) + bytes) / kPage * kPage;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  };
  const uint64_t offset = address - region->base;
  discard(region->words + offset / kSector, size / kSector * sizeof(ShadowWord));
  discard(reinterpret_cast<char*>(region->cells) + offset, size);
  discard(region->before + offset, size);
}

void mark_written(uint64_t address, uint64_t size) {
  const Region* region = region_of(address);
  if (!region || !region->has_written) return;
  const uint64_t end = address + size;
  for (uint64_t sector = address - address % kSector; sector < end; sector += kSector) {
    uint32_t bytes = ~0u;
    if (sector < address) bytes <<= address - sector;
    if (end - sector < kSector) bytes &= (1u << (end - sector)) - 1;
    region->word(sector).set_written(bytes);
  }
}

void for_each_unwritten(uint64_t address, uint64_t size,
                        const std::function<void(uint64_t, uint64_t)>& f) {
  const Region* region = region_of(address);
  if (!region || !region->has_written) return;
  const uint64_t end = address + size;
  uint64_t begin = end;  // of the run that is open; none
  for (uint64_t at = address; at < end; ++at) {
    const ShadowWord& word = region->word(at - at % kSector);
    if (at % kSector == 0 && begin == end && at + kSector <= end &&
        word.written.load(std::memory_order_relaxed) == ~0u) {
      at += kSector - 1;
      continue;
    }
    const bool is_written = word.written.load(std::memory_order_relaxed) >> at % kSector & 1;
    if (!is_written && begin == end) begin = at;
    if (is_written && begin != end) {
      f(begin, at);
      begin = end;
    }
  }
  if (begin != end) f(begin, end);
}

uint64_t unwritten(uint64_t line, uint64_t bytes) {
  const Region* region = region_of(line);
  if (!region || !region->has_written) return 0;
  const uint64_t first = region->word(line).written.load(std::memory_order_relaxed);
  const uint64_t second = region->word(line + kSector).written.load(std::memory_order_relaxed);
  return bytes & ~(first | second << 32);
}

void note_written(uint64_t line, uint64_t bytes) {
  const Region* region = region_of(line);
  if (!region || !region->has_written) return;
  region->word(line).set_written(static_cast<uint32_t>(bytes));
  region->word(line + kSector).set_written(static_cast<uint32_t>(bytes >> 32));
}

void forget_all() {
  for (const Region& region : regions) {
    if (!region.cells) continue;
    madvise(region.words, region.size / kSector * sizeof(ShadowWord), MADV_DONTNEED);
    madvise(region.cells, region.size, MADV_DONTNEED);
  }
}

}  // namespace simt::engine::shadow
