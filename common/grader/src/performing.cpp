// The half of a check that has the learner's code: what a run of it gives, and what the simulator saw.
#include "performing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#ifdef __SIMT__
#include <simt/simt.h>
#endif

#include "lab/check.h"

namespace grader {
namespace {

// What is printed while it lives, by the host or by kernels. It goes to the terminal afterwards.
class Printed {
 public:
  Printed() : file_(fdopen(memfd_create("printed", MFD_CLOEXEC), "w+")) {
    std::fflush(stdout);
    if (!file_) return;
    before_ = dup(STDOUT_FILENO);
    dup2(fileno(file_), STDOUT_FILENO);
  }
  ~Printed() { text(); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  // Ends it.
  std::string text() {
    std::fflush(stdout);
    if (!file_) return "";
    dup2(before_, STDOUT_FILENO);
    close(before_);
    std::string all;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;) all += static_cast<char>(c);
    std::fclose(file_);
    file_ = nullptr;
    std::fputs(all.c_str(), stdout);
    return all;
  }

 private:
  std::FILE* file_;
  int before_ = -1;
};

}  // namespace

std::vector<Array*>& arrays() {
  static std::vector<Array*> all;
  return all;
}

#ifdef __SIMT__

namespace {

double sum_of(const char* names, const simt::Counts& counts) {
  double sum = 0;
  const std::string_view wanted = names;
  simt::for_each_count(counts, [&](std::string_view name, std::uint64_t value) {
    for (std::size_t at = 0; at <= wanted.size();) {
      const std::size_t end = std::min(wanted.find('+', at), wanted.size());
      if (wanted.substr(at, end - at) == name) sum += static_cast<double>(value);
      at = end + 1;
    }
  });
  return sum;
}

double value_of(const Metric& metric, const simt::Counts& counts) {
  const double amount = sum_of(metric.amount, counts);
  if (!*metric.per) return amount;
  const double per = sum_of(metric.per, counts);
  return per > 0 ? amount / per : 0;
}

// The lines on the wrong side of the bar, the one that is furthest there first.
struct Place {
  std::string file;
  int line = 0;
  double value = 0;
};
std::vector<Place> worst_lines(const Metric& metric, std::size_t first_launch, double bar,
                               bool too_many) {
  std::vector<std::pair<Place, simt::Counts>> lines;
  for (std::size_t i = first_launch; i < simt::launch_count(); ++i) {
    for (const simt::LineCounts& line : simt::launch(i).lines) {
      const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& known) {
        return known.first.file == line.file && known.first.line == line.line;
      });
      if (same == lines.end()) {
        lines.push_back({{line.file, line.line, 0}, line.counts});
      } else {
        same->second += line.counts;
      }
    }
  }
  std::vector<std::pair<double, Place>> wrong;
  for (auto& [place, counts] : lines) {
    place.value = value_of(metric, counts);
    const double amount = sum_of(metric.amount, counts);
    const double excess = *metric.per ? amount - bar * sum_of(metric.per, counts) : amount;
    const double far = too_many || !*metric.per ? excess : -excess;
    if (far > 0) wrong.emplace_back(far, place);
  }
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Place> worst;
  for (const auto& [far, place] : wrong) worst.push_back(place);
  return worst;
}

double extent(dim3 extents) { return static_cast<double>(extents.x) * extents.y * extents.z; }

std::string thread_text(uint3 block, uint3 thread) {
  return lab::format("block (%u,%u,%u), thread (%u,%u,%u)", block.x, block.y, block.z, thread.x,
                     thread.y, thread.z);
}

}  // namespace

#endif

#ifdef __SIMT__
// What the host has fetched or brought that is a kernel's to compute; "" if nothing. Whoever computes on the host needs the inputs
// there, and the results here.
std::string Exercise::computed_by_host() const {
  for (const simt::Transfer& transfer : simt::transfers()) {
    for (const Array* array : arrays()) {
      const auto [begin, size] = array->bytes();
      const auto* from = static_cast<const char*>(transfer.device);
      const auto* first = static_cast<const char*>(begin);
      if (from >= first + size || from + transfer.bytes <= first) continue;
      if (array->is_input() != transfer.to_device) {
        return lab::format(
            "your code copies %s %s the host: let a kernel compute what is asked for",
            array->name().c_str(), transfer.to_device ? "from" : "to");
      }
    }
  }
  return "";
}
#endif

Exercise::Performed Exercise::perform() {
  handover::Json came, failures = handover::Json::array();
  const auto fail = [&](const std::string& kind, const std::string& message) {
    failures.push_back({{"kind", kind}, {"case", case_}, {"message", message}});
  };
#ifdef __SIMT__
  first_launch_ = simt::launch_count();
  simt::watch_transfers(true);
#endif
  printed_.clear();
  Printed printed;
  try {
    lab::detail::ThrowInstead in_here;
    code_();
#ifdef __SIMT__
    cudaDeviceSynchronize();
    printed_ = printed.text();
    for (const simt::Finding& finding : simt::take_findings()) {
      handover::Json found = {{"kind", finding.kind},
                              {"case", case_},
                              {"message", finding.message},
                              {"file", finding.file},
                              {"line", finding.line}};
      if (finding.launch >= 0) found["thread"] = thread_text(finding.block, finding.thread);
      failures.push_back(std::move(found));
    }
    cudaGetLastError();
#else
    cudaError_t error = cudaGetLastError();  // of a launch that could not be
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printed_ = printed.text();
    if (error != cudaSuccess) {
      fail("cuda-error", lab::detail::describe(error));
      came["ends"] =
          true;  // after an error of a kernel nothing can be copied or looked at any more
    }
#endif
  } catch (const lab::Failure& failure) {
#ifdef __SIMT__
    simt::take_findings();
#else
    came["ends"] = true;
#endif
    fail("cuda-error", failure.what());
  }
#ifdef __SIMT__
  simt::watch_transfers(false);
  came["launches"] = simt::launch_count() - first_launch_;
  if (const std::string by_host = computed_by_host(); !by_host.empty())
    fail("host-computes", by_host);
#endif
  if (!came.contains("ends")) {
    if (const auto damage = lab::check_all_canaries()) fail("out-of-bounds", *damage);
    for (const Array* array : failures.empty() ? arrays() : std::vector<Array*>()) {
      const std::string damage = array->damage();
      if (!damage.empty()) fail("input-changed", damage);
    }
  }
  came["failures"] = std::move(failures);
  return {came};
}

// Runs the case once more.
std::string Exercise::writer_here(const Values& values, std::size_t at) {
#ifdef __SIMT__
  for (Array* array : arrays()) array->restore();
  simt::watch(static_cast<const char*>(values.array->bytes().first) + at * values.element_size,
              values.element_size);
  try {
    lab::detail::ThrowInstead in_here;
    code_();
    cudaDeviceSynchronize();
  } catch (const lab::Failure&) {
  }
  const auto writer = simt::last_writer();
  simt::watch(nullptr, 0);
  simt::take_findings();
  if (writer) {
    const std::string who = lab::format(
        "%s, line %d", thread_text(writer->block, writer->thread).c_str(), writer->line);
    return writer->writes > 1 ? lab::format("%s, the last of %llu writes", who.c_str(),
                                            static_cast<unsigned long long>(writer->writes))
                              : who;
  }
#else
  static_cast<void>(values);
  static_cast<void>(at);
#endif
  return "";
}

double Exercise::counted_here(const Metric& metric) const {
#ifdef __SIMT__
  // Of launches there is more to know than the counts.
  double launched = 0, blocks = 0, threads = 0;
  for (std::size_t i = first_launch_; i < simt::launch_count(); ++i) {
    const simt::Launch& launch = simt::launch(i);
    launched += 1;
    blocks += extent(launch.grid);
    threads += extent(launch.block);
  }
  const std::string_view amount = metric.amount;
  if (amount == "launches") return launched;
  if (amount == "blocks") return blocks;
  if (amount == "threads") return launched > 0 ? threads / launched : 0;
  return value_of(metric, simt::counts_since(first_launch_));
#else
  static_cast<void>(metric);
  return 0;
#endif
}

Exercise::Performed Exercise::lines_here(const Metric& metric, double bar, bool too_many) const {
  handover::Json lines = handover::Json::array();
#ifdef __SIMT__
  for (const Place& place : worst_lines(metric, first_launch_, bar, too_many))
    lines.push_back({{"file", place.file}, {"line", place.line}, {"at_line", place.value}});
#else
  static_cast<void>(metric);
  static_cast<void>(bar);
  static_cast<void>(too_many);
#endif
  return {lines};
}

}  // namespace grader
