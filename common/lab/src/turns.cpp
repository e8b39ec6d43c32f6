// Several sizes, or all cases, in one run of a chapter that registers its rungs for one size: `main` is run for each
// of them, in a process of its own, and the rows come together here.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "lab/chapter.h"
#include "lab/check.h"
#include "lab/table.h"

namespace lab {

namespace {

/// Bytes of a report, between two processes of one program.
class Packer {
 public:
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
    } else {
      pass(*this, value);
    }
  }
  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (bytes_.size() - at_ < sizeof(T)) throw Failure("the report of a size is cut short");
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    } else {
      pass(*this, value);
    }
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// Whatever has elements one after the other.
template <class Archive, class Many>
requires requires(Many& many) { many.begin(); }
void pass(Archive& archive, Many& many) {
  std::size_t size = many.size();
  archive(size);
  if constexpr (!std::is_const_v<Many>) many.resize(size);
  for (auto& one : many) archive(one);
}

template <class Archive, class Pair>
requires requires(Pair& pair) { pair.second; }
void pass(Archive& archive, Pair& pair) { archive(pair.first), archive(pair.second); }

template <class Archive, class Peer>
requires std::is_same_v<std::remove_const_t<Peer>, PeerTime>
void pass(Archive& archive, Peer& peer) {
  archive(peer.name), archive(peer.time), archive(peer.rate);
}

template <class Archive, class Optional>
requires std::is_same_v<std::remove_const_t<Optional>, std::optional<PeerTime>>
void pass(Archive& archive, Optional& peer) {
  bool there = peer.has_value();
  archive(there);
  if constexpr (!std::is_const_v<Optional>) {
    if (there) peer.emplace();
  }
  if (there) archive(*peer);
}

template <class Archive, class R>
requires std::is_same_v<std::remove_const_t<R>, Row>
void pass(Archive& archive, R& row) {
  archive(row.rung), archive(row.variant), archive(row.idea), archive(row.size);
  archive(row.status), archive(row.reason), archive(row.max_error), archive(row.tolerance);
  archive(row.time), archive(row.first_ms), archive(row.rate), archive(row.rate_unit);
  archive(row.peer);
  archive(row.ratio_to_peer), archive(row.fraction_of_limit), archive(row.counts);
}

template <class Archive, class R>
requires std::is_same_v<std::remove_const_t<R>, Report>
void pass(Archive& archive, R& report) {
  archive(report.chapter), archive(report.backend), archive(report.device);
  archive(report.driver), archive(report.toolkit), archive(report.date), archive(report.commit);
  archive(report.limits), archive(report.rows), archive(report.notes);
}

/// All that is written to a pipe until its other end is closed.
std::string read_all(int from) {
  std::string bytes;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// What is left where a process ended without a report.
Row lost_row(const Size& size, int status) {
  Row row;
  row.rung = "(all)";
  row.size = size;
  row.reason = WIFSIGNALED(status)
                   ? std::string("the program died: ") + strsignal(WTERMSIG(status))
                   : "the program ended with exit code " + std::to_string(WEXITSTATUS(status));
  return row;
}

}  // namespace

std::vector<Size> size_cases(SizeKind kind) {
  std::vector<Size> cases;
  if (kind == SizeKind::n) {
    for (const std::size_t n : {1,   2,   3,   31,  32,  33,  63,   64,   65,   127,  128, 129,
                                255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 4099}) {
      cases.push_back({.kind = kind, .n = n});
    }
  } else if (kind == SizeKind::rows_cols) {
    constexpr std::array<std::size_t, 11> extents{1, 2, 3, 31, 32, 33, 63, 64, 65, 129, 257};
    for (const std::size_t step : {1, 4, 0}) {  // each extent as rows and as cols, equal ones last
      for (std::size_t i = 0; i < extents.size(); ++i) {
        cases.push_back(
            {.kind = kind, .rows = extents[i], .cols = extents[(i + step) % extents.size()]});
      }
    }
  }
  return cases;
}

void Chapter::take_turns() {
  const bool as_cases = wants_cases();
  std::vector<Size> sizes = options_.sizes;
  CaseRange range{0, sizes.size() - 1};
  if (as_cases) {
    sizes = size_cases(size().kind);
    try {
      range = parse_cases(options_.cases, sizes.size());
    } catch (const BadInput& bad) {
      usage(bad.what());
    }
  }
  CaseRows rows;
  int worst = 0;
  for (std::size_t i = range.first; i <= range.last; ++i) {
    int ends[2];
    if (pipe(ends) != 0) usage(std::string("no pipe: ") + std::strerror(errno));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) usage(std::string("no process for a size: ") + std::strerror(errno));
    if (child == 0) {
      close(ends[0]);
      report_to_ = ends[1];
      options_.sizes = {sizes[i]};
      options_.json.clear();
      report_ = {};
      if (!as_cases && i > range.first) std::printf("\n");
      measuring_ = !as_cases;
      if (as_cases) unsetenv("SIMT_JSON");  // the trace is that of a size
      return;                               // to `main`, which registers its rungs for this size
    }
    close(ends[1]);
    const std::string bytes = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) std::exit(2);  // it has said why
    Report found;
    if (bytes.empty()) {
      found.rows.push_back(lost_row(sizes[i], status));
    } else {
      Unpacker unpack(bytes);
      unpack(found);
    }
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    if (i == range.first) {
      report_ = found;
      report_.rows.clear();
      if (as_cases) {
        std::printf("%s on %s, cases %zu to %zu of %zu, seed %llu\n", report_.chapter.c_str(),
                    report_.device.c_str(), range.first, range.last, sizes.size(),
                    static_cast<unsigned long long>(seed()));
      }
    }
    for (const Row& row : found.rows) {
      if (as_cases) {
        rows.add(report_, row, i, to_string(sizes[i]));
      } else {
        report_.rows.push_back(row);
      }
    }
  }
  if (as_cases) std::printf("\n%s", table(report_, false, config_.color).c_str());
  std::exit(std::max(worst, finish()));
}

int Chapter::send_report(int code) {
  Packer pack;
  pack(report_);
  for (std::size_t at = 0; at < pack.bytes.size();) {
    const ssize_t put = write(report_to_, pack.bytes.data() + at, pack.bytes.size() - at);
    if (put < 0 && errno != EINTR) return 1;
    if (put > 0) at += static_cast<std::size_t>(put);
  }
  close(report_to_);
  return code;
}

bool CaseRows::is_wrong(const Report& report, const std::string& rung,
                        const std::string& variant) const {
  return std::any_of(report.rows.begin(), report.rows.end(), [&](const Row& row) {
    return row.rung == rung && row.variant == variant && row.status != Status::pass;
  });
}

void CaseRows::add(Report& report, const Row& found, std::size_t number, const std::string& words) {
  const auto same = [&](const Row& row) {
    return row.rung == found.rung && row.variant == found.variant;
  };
  auto row = std::find_if(report.rows.begin(), report.rows.end(), same);
  if (row == report.rows.end()) {
    report.rows.push_back(found);
    row = report.rows.end() - 1;
    row->status = Status::pass;
    row->counts.clear();
  }
  solved_.resize(report.rows.size());
  if (row->status != Status::pass) return;  // the first case that goes wrong tells
  row->size = found.size;
  row->status = found.status;
  if (found.status == Status::skip) {
    row->reason = found.reason;
  } else if (found.status != Status::pass) {
    row->reason = format("case %zu (%s): %s; again with --rung %s --cases %zu", number,
                         words.c_str(), found.reason.c_str(), found.rung.c_str(), number);
  } else {
    const std::size_t so_far = ++solved_[static_cast<std::size_t>(row - report.rows.begin())];
    row->reason = std::to_string(so_far) + (so_far == 1 ? " case" : " cases");
  }
}

}  // namespace lab
