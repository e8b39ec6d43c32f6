#include "check/cluster.h"

#include <algorithm>

#include "program/program_image.h"

namespace simt::engine {

void ClusterChecks::begin_block(Blocks* blocks, unsigned rank) {
  blocks_ = blocks;
  if (!blocks) return;
  if (!words_) words_ = zeroed<Word>(shared_.words());
  rank_ = rank;
  ++run_;
  is_over_ = false;
  threads_.assign(kMostThreads, {});
  last_ = {};
}

void ClusterChecks::pass(const Request& request, unsigned first) {
  for (const int lane : lanes_of(request.lanes)) {
    const unsigned thread = first + static_cast<unsigned>(lane);
    if (request.kind != simt::engine::Access::store)
      order_.warps.leave(first / kLanes, blocks_->released);
    if (!request.writes() || !threads_[thread].fenced) continue;
    uint32_t& released = blocks_->released.blocks[rank_];
    released = std::max(released, threads_[thread].fenced);
    blocks_->released.add_blocks(order_.warps.of(first / kLanes));
  }
}

ClusterChecks::Access ClusterChecks::now(const Request& request, unsigned thread) const {
  return {blocks_->now,
          threads_[thread].arrived,
          short_pc(request.pc),
          static_cast<uint16_t>(thread),
          static_cast<uint8_t>(rank_),
          static_cast<uint8_t>(request.size),
          request.writes(),
          request.is_atomic()};
}

ClusterChecks::Access ClusterChecks::access(size_t number, const ClusterChecks& by, unsigned thread,
                                            const Request& request) {
  Word& word = words_[number];
  if (word.run != run_) word = {run_, {}, {}};
  const auto races = [&](const Access& other) {
    return other.time && other.rank != by.rank_ && !by.knows(other, thread);
  };
  const bool writes = request.writes();
  Access found;
  if (races(word.write) && !(request.is_atomic() && word.write.is_atomic)) found = word.write;
  for (const Access& read : word.read) {
    if (!found.time && writes && races(read)) found = read;
  }
  (writes ? word.write : word.read[by.rank_]) = by.now(request, thread);
  return found;
}

bool ClusterChecks::is_there(const ClusterChecks& by, unsigned thread, const Request& request,
                             Fault::Cause& cause) {
  const bool has_begun =
      by.threads_[thread].waited || by.order_.warps.of(thread / kLanes).blocks[rank_];
  cause = has_begun ? Fault::Cause::exited : Fault::Cause::not_begun;
  last_[by.rank_] = by.now(request, thread);
  return has_begun && !is_over_;
}

void ClusterChecks::end_block(FaultLog& faults) {
  is_over_ = true;
  const unsigned threads = block_.block.x * block_.block.y * block_.block.z;
  for (const Access& access : last_) {
    bool is_known = !access.time;
    for (unsigned thread = 0; thread < threads && !is_known; ++thread)
      is_known = knows(access, thread);
    if (is_known) continue;
    Fault fault;
    fault.kind = Fault::Kind::absent_block;
    fault.cause = Fault::Cause::exited;
    fault.pc = full_pc(access.pc);
    fault.size = access.size;
    fault.store = access.writes, fault.atomic = access.is_atomic;
    fault.block = blocks_->of[access.rank]->block_.index;
    fault.thread = block_.thread(access.thread);
    fault.grid = block_.grid;
    fault.rank = static_cast<int>(rank_);
    faults.add(fault);
  }
}

}  // namespace simt::engine
