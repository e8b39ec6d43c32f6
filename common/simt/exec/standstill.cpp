#include "exec/standstill.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/program_image.h"
#include "base/symbols.h"
#include "exec/switching.h"
#include "exec/worker.h"

namespace simt::engine {
namespace standstill {
namespace {

constexpr int kSignal = SIGURG;  // ignored by whoever does not ask for it, and by debuggers
constexpr unsigned kSamples = 2000, kFewSamples = 50, kFewest = 10;
constexpr uint64_t kApart =
    100'000;  // nanoseconds of the thread's time from one sample to the next

// The states in which a thread was seen. Its signal handler alone writes to them.
struct Thread {
  pthread_t id;
  Worker* worker = nullptr;       // while it runs blocks
  std::atomic<unsigned> same{0};  // so many samples in a row were known
  std::atomic<bool> begins_anew{true}, is_to_end{false};
  uint64_t last_time = 0;
  uint64_t turn = 0, turn_began = 0;  // the lane that runs, and since when
  std::atomic<uint64_t> alone{0};     // for so many nanoseconds it has been the same
  unsigned count = 0;
  std::array<uint64_t, 4096> states;  // a hash table
  std::array<uint64_t, 256> pcs;      // of some of the states
};

std::mutex mutex;
std::vector<Thread*>& threads() {
  static auto* const all = new std::vector<Thread*>;
  return *all;
}
thread_local Thread* mine = nullptr;

uint64_t thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

double seconds(uint64_t nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds); }

uint64_t hash_of(const mcontext_t& context) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto add = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  for (int name = REG_R8; name <= REG_RIP; ++name) add(static_cast<uint64_t>(context.gregs[name]));
  for (const auto& vector : context.fpregs->_xmm) {
    for (const uint32_t part : vector.element) add(part);
  }
  return hash | 1;
}

// True if the thread has been in this state before.
bool is_known(Thread& thread, uint64_t state, uint64_t pc) {
  if (thread.begins_anew.exchange(false) || thread.count > thread.states.size() / 2) {
    thread.states = {};
    thread.count = 0;
  }
  uint64_t at = state;
  while (thread.states[at % thread.states.size()]) {
    if (thread.states[at % thread.states.size()] == state) return true;
    ++at;
  }
  thread.states[at % thread.states.size()] = state;
  thread.pcs[thread.count++ % thread.pcs.size()] = pc;
  return false;
}

void on_sample(int, siginfo_t*, void* context) {
  Thread* const thread = mine;
  Worker* const worker = running;
  if (!thread || !worker || worker != thread->worker) return;
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto pc = static_cast<uint64_t>(machine.gregs[REG_RIP]);
  const ProgramImage& program = program_image();
  if (thread->is_to_end &&
      pc - program.first < program.code_end - program.first &&  // no lock of the library's is held
      worker->end_from_signal(machine)) {
    thread->is_to_end = false;  // the next sample may find it on its way out
    return;
  }
  const uint64_t now = thread_time();
  if (now - thread->last_time < kApart) return;  // it has not run since
  thread->last_time = now;
  if (std::exchange(thread->turn, worker->turn()) != worker->turn()) thread->turn_began = now;
  thread->alone = now - thread->turn_began;
  const bool known = is_known(*thread, hash_of(machine), pc);
  thread->same = known ? thread->same + 1 : 0;
}

// Of all places the first one in the reader's code, 0 if there is none.
uint64_t first_place(const Thread& thread) {
  uint64_t found = 0;
  int line = 0;
  for (unsigned i = 0; i < thread.count && i < thread.pcs.size(); ++i) {
    const symbols::Location& at = symbols::locate(thread.pcs[i] + 1);
    if (at.line <= 0 || symbols::is_library_file(at.file) || (line && at.line >= line)) continue;
    found = thread.pcs[i] + 1;
    line = at.line;
  }
  return found;
}

// So many known samples in a row are proof. Where many threads share few CPUs each runs seldom, and all of them have to agree.
unsigned samples_wanted() {
  const auto running = std::count_if(threads().begin(), threads().end(),
                                     [](const Thread* thread) { return thread->worker; });
  const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  const auto share = static_cast<unsigned>(running) / cpus;
  return std::max(kFewest, kSamples / std::max(1u, share));
}

void interrupt() {
  const std::lock_guard lock(mutex);
  for (const Thread* thread : threads()) {
    if (thread->worker) pthread_kill(thread->id, kSignal);
  }
}

}  // namespace

void enter(Worker& worker) {
  const std::lock_guard lock(mutex);
  if (!mine) {
    threads().push_back(mine = new Thread);
    mine->id = pthread_self();
  }
  mine->begins_anew = true;
  mine->is_to_end = false;
  mine->same = 0;
  mine->alone = mine->turn = 0;
  mine->worker = &worker;
}

void leave() {
  const std::lock_guard lock(mutex);
  mine->worker = nullptr;
}

void forget() {
  const std::lock_guard lock(mutex);
  for (Thread* thread : threads()) {
    thread->begins_anew = true;
    thread->same = 0;
    thread->alone = thread->turn = 0;
  }
}

Seen look() {
  struct sigaction action {};
  action.sa_sigaction = &on_sample;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(kSignal, &action, nullptr);
  // Beside many threads a moment's sleep is a long one.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  for (int i = 0; i < 200 && std::chrono::steady_clock::now() < end; ++i) {
    interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::lock_guard lock(mutex);
  const unsigned wanted = samples_wanted();
  Seen seen;
  bool any = false, all = true, all_lately = true;
  for (const Thread* thread : threads()) {
    if (!thread->worker) continue;
    all &= thread->same >= wanted;
    all_lately &= thread->same >= kFewSamples;
    seen.alone = std::max(seen.alone, seconds(thread->alone));
    any = true;
  }
  seen.stand_still = any && all;
  seen.may_wait = any && all_lately;
  return seen;
}

std::string place() {
  const std::lock_guard lock(mutex);
  for (const Thread* thread : threads()) {
    const uint64_t at = thread->worker ? first_place(*thread) : 0;
    if (at) return symbols::locate(at).text();
  }
  return {};
}

void end_blocks(double alone) {
  {
    const std::lock_guard lock(mutex);
    const unsigned wanted = samples_wanted();
    for (Thread* thread : threads()) {
      if (!thread->worker || (thread->same < wanted && seconds(thread->alone) < alone)) continue;
      thread->worker->standstill_pc_ = first_place(*thread);
      thread->is_to_end = true;
    }
  }
  interrupt();
}

}  // namespace standstill

uint64_t Worker::turn() const {
  const uint64_t lane = lane_ < 0 ? kLanes : thread_rank();
  return (clock_ * (kMaxBlockThreads + 1) + lane) * 0x9e3779b97f4a7c15u + monitor.block.linear() +
         1;
}

bool Worker::end_from_signal(mcontext_t& machine) {
  if (lane_ < 0) return false;
  const Fiber* const fiber = is_loop_ ? loop_fiber_ : warp_->fiber[lane_];
  const uint64_t bottom = reinterpret_cast<uint64_t>(fiber->stack);
  const uint64_t top = bottom + stacks.bytes;
  // Not yet there, or no longer.
  if (static_cast<uint64_t>(machine.gregs[REG_RSP]) - bottom >= stacks.bytes) return false;
  machine.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uint64_t>(&Worker::stand_still));
  machine.gregs[REG_RSP] = static_cast<greg_t>((top & ~uint64_t{15}) - 4096 - 8);
  return true;
}

// Where a lane goes on that stood still, at the top of its stack.
void Worker::stand_still() {
  Worker& worker = *running;
  if (worker.is_loop_) worker.leave_loop();
  Fault fault = worker.fault_at(Fault::Kind::hang, *worker.warp_, worker.lane_);
  fault.pc = worker.standstill_pc_;
  fault.address = 0;
  fault.text = "registers";
  worker.fail(fault);
}

}  // namespace simt::engine
