#include "lab/table.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "lab/text.h"

namespace lab {

namespace {

std::uint64_t count_of(const Counts& counts, std::string_view name) {
  for (const auto& [key, value] : counts) {
    if (key == name) return value;
  }
  return 0;
}

/// `a / b` with one decimal; "-" where b is 0.
std::string per(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? "-" : format("%.1f", static_cast<double>(a) / static_cast<double>(b));
}

std::vector<std::string> headings_of(bool times) {
  if (times) return {"median ms", "(p10 .. p90)", "rate", "of peer", "of limit"};
  return {"loads", "sectors", "lanes", "stores", "sectors", "lanes", "conflicts"};
}

/// The figures of a row under those headings; none where it has none.
std::vector<std::string> figures_of(const Row& row, bool times) {
  const auto percent = [](const std::optional<double>& fraction) {
    return fraction ? format("%.1f %%", 100 * *fraction) : "";
  };
  if (times) {
    if (!row.time) return {};
    return {milliseconds(row.time->median),
            format("(%s .. %s)", milliseconds(row.time->p10).c_str(),
                   milliseconds(row.time->p90).c_str()),
            row.rate ? rate_text(*row.rate) + " " + row.rate_unit : "", percent(row.ratio_to_peer),
            percent(row.fraction_of_limit)};
  }
  if (row.counts.empty()) return {};
  const auto n = [&](std::string_view name) { return count_of(row.counts, name); };
  const std::uint64_t loads = n("global_load_requests"), stores = n("global_store_requests");
  const std::uint64_t shared = n("shared_load_requests") + n("shared_store_requests");
  const std::uint64_t conflicts =
      n("shared_load_bank_conflicts") + n("shared_store_bank_conflicts");
  return {grouped(loads),
          per(n("global_load_sectors"), loads),
          per(n("global_load_active_lanes"), loads),
          grouped(stores),
          per(n("global_store_sectors"), stores),
          per(n("global_store_active_lanes"), stores),
          shared == 0 ? "-" : grouped(conflicts)};
}

/// Columns of the figures under those headings: a row is printed before the next one is known.
std::vector<std::size_t> widths_of(bool times) {
  if (times) return {9, 20, 14, 8, 8};
  return {10, 7, 5, 10, 7, 5, 9};
}

constexpr std::size_t status_width = 5, recorded_width = 8;

/// What the figures leave for the name.
std::size_t label_width(bool times) {
  std::size_t taken = 2 + status_width;
  for (const std::size_t width : widths_of(times)) taken += 2 + width;
  return table_width - taken;
}

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string columns(const std::vector<std::string>& cells, bool times) {
  const std::vector<std::size_t> widths = widths_of(times);
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += "  " + pad_left(cells[i], widths[i]);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// The lines below the rows: what the columns mean, the peers, the limits.
std::vector<std::string> footnotes(const Report& report, bool times,
                                   const RecordedTimes& recorded) {
  std::vector<std::string> notes;
  const bool counted = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const Row& row) { return !row.counts.empty(); });
  if (!times && counted) {
    notes.emplace_back(
        "loads, stores: requests to global memory, one per warp instruction; sectors of 32 bytes "
        "and active lanes are per request; conflicts: bank conflicts in shared memory");
  }
  const bool any_recorded = std::any_of(report.rows.begin(), report.rows.end(),
                                        [&](const Row& row) { return !recorded.of(row).empty(); });
  if (any_recorded) {
    notes.push_back(recorded.heading() + ": recorded on an " + recorded.gpu + " at " +
                    recorded.size + ", not measured here");
  }
  std::vector<std::string_view> named;
  for (const Row& row : report.rows) {
    if (!row.peer || std::find(named.begin(), named.end(), row.peer->name) != named.end()) continue;
    named.push_back(row.peer->name);
    std::string note =
        "peer " + row.peer->name + ": " + milliseconds(row.peer->time.median) + " ms";
    if (row.peer->rate > 0) note += ", " + rate_text(row.peer->rate) + " " + row.rate_unit;
    notes.push_back(note + ", timed beside " + row.label());
  }
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  for (const auto& [name, value] : report.limits) {
    if (name == "copy_gb_s") {
      notes.push_back("limit: a copy within device memory moves " + rate_text(value) +
                      " GB/s here, read plus written");
    } else if (name == "fp32_gflop_s") {
      notes.push_back("limit: a loop of FMAs in float reaches " + rate_text(value) +
                      " GFLOP/s here");
    }
  }
  return notes;
}

}  // namespace

std::string RecordedTimes::heading() const { return gpu.substr(gpu.find(' ') + 1) + " ms"; }

std::string RecordedTimes::of(const Row& row) const {
  const auto found = ms.find({row.rung, row.variant});
  return found == ms.end() ? "" : milliseconds(found->second);
}

RecordedTimes recorded_times(const char* file) {
  RecordedTimes times;
  if (file == nullptr) return times;
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error(std::string(file) + ": cannot be read");
  times.gpu = line.substr(0, line.find('\t'));
  times.size = line.substr(line.find('\t') + 1);
  while (std::getline(in, line)) {
    std::istringstream parts(line);
    std::string rung, variant;
    double ms = 0;
    if (!std::getline(parts, rung, '\t') || !std::getline(parts, variant, '\t') || !(parts >> ms)) {
      throw std::runtime_error(std::string(file) + ": no recorded time: " + line);
    }
    times.ms[{rung, variant}] = ms;
  }
  return times;
}

std::string table_head(bool figures, bool times, const RecordedTimes& recorded) {
  if (!figures) return "rung\n";
  return pad_right("rung", label_width(times) + 2 + status_width) +
         columns(headings_of(times), times) +
         (recorded.gpu.empty() ? "" : "  " + pad_left(recorded.heading(), recorded_width)) + "\n";
}

std::string table_row(const Row& row, bool times, bool color, const RecordedTimes& recorded) {
  const std::size_t name_width = label_width(times);
  const std::string word = pad_right(to_string(row.status), status_width);
  const std::string painted = !color ? word
                                     : std::string(row.status == Status::pass   ? "\033[32m"
                                                   : row.status == Status::skip ? "\033[33m"
                                                                                : "\033[31m") +
                                           word + "\033[0m";
  const std::vector<std::string> figures = figures_of(row, times);
  const std::string label = row.label();
  std::string text = label.size() > name_width ? label + "\n" + std::string(name_width, ' ')
                                               : pad_right(label, name_width);
  const std::string cells = columns(figures, times), time = recorded.of(row);
  const std::string indent(name_width + 2 + status_width + 2, ' ');
  text += "  " + painted + cells;
  bool in_line = figures.empty();
  std::string reason = row.reason;
  if (!time.empty() && in_line && !reason.empty()) {  // the reason stands where the column would
    reason += "; recorded: " + time + " ms";
  } else if (!time.empty()) {
    const std::size_t place = table_width - name_width - 2 - status_width;
    text += std::string(place - cells.size(), ' ') + "  " + pad_left(time, recorded_width);
  }
  if (!reason.empty()) {
    for (const std::string& line : wrapped(reason, table_width - indent.size())) {
      text += (in_line ? "  " : "\n" + indent) + line;
      in_line = false;
    }
  }
  while (text.back() == ' ') text.pop_back();
  return text + "\n";
}

std::string table_foot(const Report& report, bool times, const RecordedTimes& recorded) {
  std::string text;
  for (const std::string& note : footnotes(report, times, recorded)) {
    for (const std::string& line : wrapped(note, table_width)) text += line + "\n";
  }
  return text + format("%d PASS, %d FAIL, %d SKIP, %d ERROR\n", report.count(Status::pass),
                       report.count(Status::fail), report.count(Status::skip),
                       report.count(Status::error));
}

std::string table(const Report& report, bool times, bool color, const RecordedTimes& recorded) {
  const bool figures = std::any_of(report.rows.begin(), report.rows.end(),
                                   [&](const Row& row) { return !figures_of(row, times).empty(); });
  std::string text = table_head(figures, times, recorded);
  for (const Row& row : report.rows) text += table_row(row, times, color, recorded);
  return text + table_foot(report, times, recorded);
}

}  // namespace lab
