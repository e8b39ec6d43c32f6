// The checks of exercises: what is noted, and how it is written down.
#include "grader/grader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "handover.h"
#include "lab/timing.h"
#include "performing.h"

namespace grader {
namespace {

#ifdef __SIMT__
constexpr bool counted = true;  // and watched: who writes where is known
#else
constexpr bool counted = false;
#endif

using handover::give;
using handover::Json;
using handover::performs;
using handover::take;

std::FILE* events = nullptr;  // where it is judged

template <class Write>
void note(const char* event, Write write) {  // does nothing in the process that performs
  if (!events) return;
  Json json;
  json["event"] = event;
  write(json);
  // The name of a learner's file need not be UTF-8.
  std::fputs((json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), events);
  std::fflush(events);
}

// Whole numbers with all of their digits.
std::string number(double value) {
  const bool is_whole = std::abs(value) < 1e15 && value == std::floor(value);
  return lab::format(is_whole ? "%.0f" : "%.9g", value);
}

}  // namespace

namespace detail {

bool performs() { return handover::performs(); }

void hand_over(const std::string& what, std::string& bytes, std::size_t wanted) {
  if (performs()) return give(what, Json::object(), bytes);
  take(what, &bytes);
  if (wanted != any && bytes.size() != wanted) throw handover::Unexpected();
}

}  // namespace detail

Array::Array(std::string name) : name_(std::move(name)) { arrays().push_back(this); }
Array::~Array() { std::erase(arrays(), this); }

bool Exercise::write_to(const std::string& file) {
  events = std::fopen(file.c_str(), "we");
  return events != nullptr;
}

void Exercise::run(std::string what, std::function<void()> code) {
  stop_if_failed();
  case_ = std::move(what);
  code_ = std::move(code);
  looked_ = true;
  note("case", [&](Json& json) { json["case"] = case_; });
  Json came;
  if (performs()) {
    came = perform().json;
    came["case"] = case_;
    came["printed"] = printed_;
    give("run", came);
  } else {
    came = take("run");
    if (came.value("case", "") != case_) throw handover::Unexpected();
    printed_ = came.value("printed", "");
  }
  for (const Json& failure : came.value("failures", Json::array())) {
    failed_ = true;
    note("failure", [&](Json& json) { json.update(failure); });
  }
  if (failed_) {
    if (came.value("ends", false)) throw Stop();
  } else if (counted && came.value("launches", 0) < 1) {
    fail("no-kernel", "your code has launched no kernel: let one do the work");
  }
}

void Exercise::fail(const std::string& kind, const std::string& message) {
  failed_ = true;
  note("failure", [&](Json& json) {
    json["kind"] = kind;
    json["case"] = case_;
    json["message"] = message;
  });
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

std::string Exercise::writer_of(const Values& values, std::size_t at) {
  std::string text;
  if (performs()) {
    text = writer_here(values, at);
    give("writer", {{"text", text}});
    return text;
  }
  try {
    text = take("writer").value("text", "");
  } catch (const handover::Ended&) {  // that it is wrong is told all the same
  }
  return text;
}

void Exercise::judge(const Values& values) {
  const lab::Comparison comparison = lab::compare(values.got, values.want, values.tolerance);
  if (!comparison.pass) {
    failed_ = true;
    const std::size_t at = comparison.first_mismatch;
    const bool untouched = at < values.untouched.size() && values.untouched[at];
    const bool asks = values.array && at != lab::Comparison::none && (counted || !untouched);
    const std::string writer = asks ? writer_of(values, at) : "";
    // A thread has stored what stood there before, or something made of it.
    const bool unset = untouched && !writer.empty();
    const bool unwritten = untouched && writer.empty();
    note("failure", [&](Json& json) {
      json["kind"] = "wrong-result";
      json["case"] = case_;
      if (at == lab::Comparison::none) {
        json["message"] = comparison.text;
        return;
      }
      const bool is_host = !values.array;
      const std::string index = is_host && values.got.size() == 1
                                    ? values.name
                                    : values.name + "[" + std::to_string(at) + "]";
      const std::string place =
          values.cols > 0
              ? lab::format("row %zu, column %zu of %s", at / static_cast<std::size_t>(values.cols),
                            at % static_cast<std::size_t>(values.cols), values.name.c_str())
              : index;
      json["place"] = place;
      if (is_host) json["host"] = 1;
      if (!writer.empty()) json["writer"] = writer;
      if (writer.empty() && !untouched && values.array && counted) json["unwritten"] = 1;
      if (unset) json["unset"] = 1;
      json["expected"] = number(values.want[at]);
      json["got"] = unwritten ? "never written" : number(values.got[at]);
      std::string inputs;
      for (const Array* array : arrays()) {
        const std::string one = array->input_at(at, values.got.size());
        if (!one.empty()) inputs += (inputs.empty() ? "" : ", ") + one;
      }
      if (!inputs.empty() && values.cols == 0) json["inputs"] = inputs;
      json["wrong"] = comparison.mismatches;
      json["of"] = values.got.size();
      const std::string got = unwritten ? "an element that no thread has written"
                              : unset   ? "a value made of an element that nobody has set"
                                        : number(values.got[at]);
      json["message"] = place + ": expected " + number(values.want[at]) + ", got " + got;
    });
  }
  stop_if_failed();
}

void Exercise::expect(bool holds, const std::string& kind, const std::string& otherwise) {
  if (!holds) fail(kind, otherwise);
  stop_if_failed();
}

double Exercise::count(const Metric& metric) const {
  if (!performs()) return take(metric.name).value("count", 0.0);
  const double count = counted_here(metric);
  give(metric.name, {{"count", count}});
  return count;
}

void Exercise::hold(const Metric& metric, const char* relation, double bar) {
  if (failed_) throw Stop();  // the counts of a wrong kernel say nothing
#ifdef __SIMT__
  const double is = count(metric);
  const bool too_many = is > bar, too_few = is < bar;
  const bool holds = std::string_view(relation) == "at most"    ? !too_many
                     : std::string_view(relation) == "at least" ? !too_few
                                                                : !too_many && !too_few;
  Json places = Json::array();
  if (!holds && performs()) {
    places = lines_here(metric, bar, too_many).json;
    give("places", {{"places", places}});
  } else if (!holds) {
    places = take("places").value("places", Json::array());
  }
  note("bar", [&](Json& json) {
    json["name"] = metric.name;
    json["case"] = case_;
    json["unit"] = metric.unit;
    json["is"] = is;
    json["relation"] = relation;
    json["bar"] = bar;
    json["holds"] = holds ? 1 : 0;
    if (places.empty()) return;
    json.update(places[0]);
    places.erase(0);
    json["others"] = places;
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
  double ratio = 0;
  if (performs()) {
    const lab::Contestant contestants[] = {{code_}, {reference}};
    const std::vector<lab::TimeStats> times = lab::time_interleaved(contestants);
    ratio = times[0].median / times[1].median;
    give(name, {{"ratio", ratio}});
  } else {
    ratio = take(name).at("ratio").get<double>();
  }
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
  looked_ = true;
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

void Exercise::reject() {
  fail("handed-over",
       "the process of your code handed over something else than the check has asked it for");
}

void Exercise::finish(bool came_through, int code) {
  if (came_through && !looked_ && !failed()) fail("nothing-checked", "the check has run no case");
  note("ended", [&](Json& json) { json["code"] = code; });
  if (came_through && (failed() || code == 0)) note(failed() ? "failed" : "passed", [](Json&) {});
  if (events) std::fclose(events);
  events = nullptr;
}

}  // namespace grader
