#include "confine.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace grader {
namespace {

// As in linux/landlock.h, which may be older than the kernel.
struct Ruleset {
  std::uint64_t files, network, scopes;
};
struct [[gnu::packed]] Beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};
enum : std::uint64_t {
  write_file = 1 << 1,
  remove_folder = 1 << 4,
  remove_file = 1 << 5,
  make_device = 1 << 6,
  make_folder = 1 << 7,
  make_file = 1 << 8,
  make_socket = 1 << 9,
  make_fifo = 1 << 10,
  make_block_device = 1 << 11,
  make_link = 1 << 12,
  move = 1 << 13,
  truncate = 1 << 14,
  signals = 1 << 1,  // a scope
};
constexpr unsigned kVersion = 1, kBeneath = 1;
constexpr long kCreate = 444, kAdd = 445, kRestrict = 446;  // the system calls, alike everywhere

void allow(int ruleset, const char* folder, std::uint64_t what) {
  const int opened = open(folder, O_PATH | O_CLOEXEC);
  if (opened < 0) return;
  const Beneath rule{what, opened};
  syscall(kAdd, ruleset, kBeneath, &rule, 0);
  close(opened);
}

}  // namespace

void confine() {
  const long version = syscall(kCreate, nullptr, 0, kVersion);
  if (version < 1) return;
  Ruleset rules{write_file | remove_folder | remove_file | make_device | make_folder | make_file |
                    make_socket | make_fifo | make_block_device | make_link,
                0, 0};
  if (version >= 2) rules.files |= move;
  if (version >= 3) rules.files |= truncate;
  if (version >= 6) rules.scopes |= signals;
  const std::size_t known = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
  const auto ruleset = static_cast<int>(syscall(kCreate, &rules, known, 0));
  if (ruleset < 0) return;
  // The GPU's driver has its devices there, shares memory there, and names the threads of the process.
  allow(ruleset, "/dev", rules.files & (write_file | truncate));
  allow(ruleset, "/dev/shm", rules.files & (write_file | truncate | make_file | remove_file));
  allow(ruleset, "/proc/self/task", rules.files & (write_file | truncate));
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(kRestrict, ruleset, 0);
  close(ruleset);
}

}  // namespace grader
