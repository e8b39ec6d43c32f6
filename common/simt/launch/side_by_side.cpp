#include "launch/side_by_side.h"

#include <array>
#include <condition_variable>

#include "base/devices.h"
#include "base/lasting.h"
#include "exec/hang_proof.h"

namespace simt::engine::side_by_side {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable ended;
  std::array<Launch*, devices::kMost> of{};  // each device
  std::optional<HangVote> vote;              // of those that run
};
State& state() { return lasting<State>(); }

std::atomic<unsigned> running{0};

}  // namespace

Lock lock() { return Lock(state().mutex); }

Launch::Launch(Lock& lock, int device) : device_(device) {
  State& s = state();
  const stream_order::Work& work = *stream_order::Work::current();
  Launch*& mine = s.of[static_cast<size_t>(device)];
  s.ended.wait(lock, [&] { return !mine; });
  mine = this;
  member_.device = device;
  member_.queue = work.queue();
  member_.number = work.number();
  has_company_ = running++ > 0;
  for (Launch* other : s.of) {
    if (!other || other == this) continue;
    other->beside_.emplace_back(member_.queue, member_.number);
    beside_.emplace_back(other->member_.queue, other->member_.number);
  }
}

Launch::~Launch() {
  State& s = state();
  s.of[static_cast<size_t>(device_)] = nullptr;
  --running;
  s.ended.notify_all();
}

bool Launch::begin(Grid& grid, uint64_t workers, bool cooperative) {
  State& s = state();
  const stream_order::Work& work = *stream_order::Work::current();
  is_cooperative_ = cooperative;
  bool checks = grid.checks_blocks;
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  if (!has_company_) {
    s.vote.emplace(workers);
    if (checks) shadow::begin_phase(blocks);
  } else {
    s.vote->join(workers);
    checks &= !cooperative;
    for (const Launch* other : s.of) checks &= !other || !other->is_cooperative_;
    const std::optional<uint32_t> offset = checks ? shadow::join_phase(blocks) : std::nullopt;
    checks &= offset.has_value();
    grid.offset = offset.value_or(0);
  }
  grid.hang_vote = &*s.vote;
  grid.running = &running;
  member_.first = first_block + grid.offset;
  if (!checks) return false;
  for (const Member& earlier : phase().members) {
    if (!earlier.has_ended || !work.is_behind(earlier.queue, earlier.number)) continue;
    behind_.add(earlier.known);
    grid.behind = &behind_;
  }
  member_.grid = grid.grid;
  member_.last = member_.first + static_cast<uint32_t>(blocks) - 1;
  shadow::add_member(member_);
  if (cooperative)
    member_.last = ~uint32_t{0};  // the blocks have other numbers behind each barrier
  return true;
}

void Launch::end() { shadow::end_member(member_); }

}  // namespace simt::engine::side_by_side
