// The checks of exercises: what is noted, and how it is written down.
#include "grader/grader.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#ifdef __SIMT__
#include <simt/simt.h>
#endif

#include "lab/check.h"
#include "lab/timing.h"

namespace grader {
namespace {

#ifdef __SIMT__
constexpr bool counted = true;  // and watched: who writes where is known
#else
constexpr bool counted = false;
#endif

std::vector<Array*>& arrays() {
  static std::vector<Array*> all;
  return all;
}

using Json = nlohmann::ordered_json;

std::FILE* events = nullptr;

template <class Write>
void note(const char* event, Write write) {
  if (!events) return;
  Json json;
  json["event"] = event;
  write(json);
  // The name of a learner's file need not be UTF-8.
  std::fputs((json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), events);
  std::fflush(events);
}

// What is printed while it lives, by the host or by kernels. It goes to the terminal afterwards.
class Printed {
 public:
  Printed() : file_(std::tmpfile()) {
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

Array::Array(std::string name) : name_(std::move(name)) { arrays().push_back(this); }
Array::~Array() { std::erase(arrays(), this); }

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

bool Exercise::write_to(const std::string& file) {
  events = std::fopen(file.c_str(), "w");
  return events != nullptr;
}

void Exercise::run(std::string what, std::function<void()> code) {
  stop_if_failed();
  case_ = std::move(what);
  code_ = std::move(code);
  note("case", [&](Json& json) { json["case"] = case_; });
  const auto fail = [&](const std::string& kind, const std::string& message) {
    failed_ = true;
    note("failure", [&](Json& json) {
      json["kind"] = kind;
      json["case"] = case_;
      json["message"] = message;
    });
  };
#ifdef __SIMT__
  first_launch_ = simt::launch_count();
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
      failed_ = true;
      note("failure", [&](Json& json) {
        json["kind"] = finding.kind;
        json["case"] = case_;
        json["message"] = finding.message;
        json["file"] = finding.file;
        json["line"] = finding.line;
        if (finding.launch >= 0) json["thread"] = thread_text(finding.block, finding.thread);
      });
    }
    cudaGetLastError();
#else
    cudaError_t error = cudaGetLastError();  // of a launch that could not be
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printed_ = printed.text();
    if (error != cudaSuccess) {
      fail("cuda-error", lab::detail::describe(error));
      throw Stop();  // after an error of a kernel nothing can be copied or looked at any more
    }
#endif
  } catch (const lab::Failure& failure) {
#ifdef __SIMT__
    simt::take_findings();
#endif
    fail("cuda-error", failure.what());
#ifndef __SIMT__
    throw Stop();
#endif
  }
  if (const auto damage = lab::check_all_canaries()) fail("out-of-bounds", *damage);
  if (failed_) return;
  for (const Array* array : arrays()) {
    const std::string damage = array->damage();
    if (!damage.empty()) fail("input-changed", damage);
  }
}

bool Exercise::is_poison(const void* value, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(value);
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    std::uint16_t pattern;
    std::memcpy(&pattern, bytes + i, 2);
    if (pattern != lab::Buffer::poison_pattern) return false;
  }
  return size >= 2;
}

// Runs the case once more to see which thread writes there last.
std::string Exercise::writer_of(const void* address, std::size_t size) {
#ifdef __SIMT__
  for (Array* array : arrays()) array->restore();
  simt::watch(address, size);
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
    return lab::format("%s, line %d", thread_text(writer->block, writer->thread).c_str(),
                       writer->line);
  }
#else
  static_cast<void>(address);
  static_cast<void>(size);
#endif
  return "";
}

void Exercise::judge(const Values& values) {
  const lab::Comparison comparison = lab::compare(values.got, values.want, values.tolerance);
  if (!comparison.pass) {
    failed_ = true;
    const std::size_t at = comparison.first_mismatch;
    const bool untouched = at < values.untouched.size() && values.untouched[at];
    const std::string writer =
        at == lab::Comparison::none || untouched || !values.base
            ? ""
            : writer_of(values.base + at * values.element_size, values.element_size);
    note("failure", [&](Json& json) {
      json["kind"] = "wrong-result";
      json["case"] = case_;
      if (at == lab::Comparison::none) {
        json["message"] = comparison.text;
        return;
      }
      const std::string index = values.name + "[" + std::to_string(at) + "]";
      const std::string place =
          values.cols > 0
              ? lab::format("row %zu, column %zu of %s", at / static_cast<std::size_t>(values.cols),
                            at % static_cast<std::size_t>(values.cols), values.name.c_str())
              : index;
      json["place"] = place;
      if (!writer.empty()) json["writer"] = writer;
      if (writer.empty() && !untouched && values.base && counted) json["unwritten"] = 1;
      json["expected"] = lab::format("%.9g", values.want[at]);
      json["got"] = untouched ? "never written" : lab::format("%.9g", values.got[at]);
      std::string inputs;
      for (const Array* array : arrays()) {
        const std::string one = array->input_at(at, values.got.size());
        if (!one.empty()) inputs += (inputs.empty() ? "" : ", ") + one;
      }
      if (!inputs.empty() && values.cols == 0) json["inputs"] = inputs;
      json["wrong"] = comparison.mismatches;
      json["of"] = values.got.size();
      json["message"] = lab::format("%s: expected %.9g, got %s", place.c_str(), values.want[at],
                                    untouched ? "an element that no thread has written"
                                              : lab::format("%.9g", values.got[at]).c_str());
    });
  }
  stop_if_failed();
}

void Exercise::expect(bool holds, const std::string& kind, const std::string& otherwise) {
  if (!holds) {
    failed_ = true;
    note("failure", [&](Json& json) {
      json["kind"] = kind;
      json["case"] = case_;
      json["message"] = otherwise;
    });
  }
  stop_if_failed();
}

double Exercise::count(const Metric& metric) const {
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

void Exercise::hold(const Metric& metric, const char* relation, double bar) {
  if (failed_) throw Stop();  // the counts of a wrong kernel say nothing
#ifdef __SIMT__
  const double is = count(metric);
  const bool too_many = is > bar, too_few = is < bar;
  const bool holds = std::string_view(relation) == "at most"    ? !too_many
                     : std::string_view(relation) == "at least" ? !too_few
                                                                : !too_many && !too_few;
  const std::vector<Place> places =
      holds ? std::vector<Place>{} : worst_lines(metric, first_launch_, bar, too_many);
  note("bar", [&](Json& json) {
    json["name"] = metric.name;
    json["case"] = case_;
    json["unit"] = metric.unit;
    json["is"] = is;
    json["relation"] = relation;
    json["bar"] = bar;
    json["holds"] = holds ? 1 : 0;
    if (places.empty()) return;
    json["file"] = places[0].file;
    json["line"] = places[0].line;
    json["at_line"] = places[0].value;
    json["others"] = Json::array();
    for (std::size_t i = 1; i < places.size(); ++i) {
      json["others"].push_back(
          {{"file", places[i].file}, {"line", places[i].line}, {"at_line", places[i].value}});
    }
  });
  if (!holds) missed_ = true;  // the other bars are looked at as well
#else
  static_cast<void>(metric);
  static_cast<void>(relation);
  static_cast<void>(bar);
#endif
}

void Exercise::at_most_times(double factor, const std::string& name,
                             const std::function<void()>& reference) {
  if (failed_) throw Stop();
  if (!lab::this_backend().times) return;
  const lab::Contestant contestants[] = {{code_}, {reference}};
  const std::vector<lab::TimeStats> times = lab::time_interleaved(contestants);
  const double ratio = times[0].median / times[1].median;
  const bool holds = ratio <= factor;
  note("bar", [&](Json& json) {
    json["name"] = "time, over that of " + name;
    json["case"] = case_;
    json["unit"] = "times";
    json["is"] = ratio;
    json["relation"] = "at most";
    json["bar"] = factor;
    json["holds"] = holds ? 1 : 0;
  });
  if (!holds) missed_ = true;
}

void Exercise::predict(const std::string& question, double guess, double measured) {
  const bool answered = guess >= 0;
  const bool right = answered && std::abs(guess - measured) <= 1e-9 * std::abs(measured);
  note("prediction", [&](Json& json) {
    json["question"] = question;
    json["answered"] = answered ? 1 : 0;
    json["guess"] = guess;
    json["holds"] = right ? 1 : 0;
    json["hint"] = guess < measured ? "too low" : "too high";
  });
  if (!right) wrong_guess_ = true;  // all of them are looked at
}

void Exercise::stop_if_failed() {
  if (failed_ || missed_) throw Stop();
}

void Exercise::finish() {
  note(failed() ? "failed" : "passed", [](Json&) {});
  if (events) std::fclose(events);
  events = nullptr;
}

}  // namespace grader
