#include "lab/table.h"

#include <algorithm>
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

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

/// The lines below the rows: what the columns mean, the peers, the limits.
std::vector<std::string> footnotes(const Report& report, bool times) {
  std::vector<std::string> notes;
  const bool counted = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const Row& row) { return !row.counts.empty(); });
  if (!times && counted) {
    notes.emplace_back(
        "loads, stores: requests to global memory, one per warp instruction; sectors of 32 bytes "
        "and active lanes are per request; conflicts: bank conflicts in shared memory");
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

std::string table(const Report& report, bool times, bool color, std::size_t width) {
  constexpr std::size_t status_width = 5;
  const bool figures_there =
      std::any_of(report.rows.begin(), report.rows.end(),
                  [&](const Row& row) { return !figures_of(row, times).empty(); });
  const std::vector<std::string> headings =
      figures_there ? headings_of(times) : std::vector<std::string>{};

  std::vector<std::size_t> widths;
  for (const std::string& heading : headings) widths.push_back(heading.size());
  std::size_t longest = 4;  // "rung"
  for (const Row& row : report.rows) {
    longest = std::max(longest, row.label().size());
    const std::vector<std::string> figures = figures_of(row, times);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      widths[i] = std::max(widths[i], figures[i].size());
    }
  }
  // What the figures leave is for the name; a longer name has a line of its own.
  std::size_t taken = 2 + status_width;
  for (const std::size_t w : widths) taken += 2 + w;
  const std::size_t label_width =
      std::min(longest, std::max<std::size_t>(width - std::min(width, taken), 12));

  const auto painted = [&](Status status) {
    const std::string word = pad_right(to_string(status), status_width);
    if (!color) return word;
    return std::string(status == Status::pass   ? "\033[32m"
                       : status == Status::skip ? "\033[33m"
                                                : "\033[31m") +
           word + "\033[0m";
  };
  const auto columns = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += "  " + pad_left(cells[i], widths[i]);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
  };

  const std::string indent(label_width + 2 + status_width + 2, ' ');
  std::string text = "rung";
  if (figures_there) {
    text = pad_right(text, label_width + 2 + status_width) + columns(headings);
  }
  text += "\n";
  for (const Row& row : report.rows) {
    const std::string label = row.label();
    if (label.size() > label_width) {
      text += label + "\n" + std::string(label_width, ' ');
    } else {
      text += pad_right(label, label_width);
    }
    text += "  " + painted(row.status) + columns(figures_of(row, times));
    if (!row.reason.empty()) {
      bool inline_reason = figures_of(row, times).empty();
      for (const std::string& line :
           wrapped(row.reason, width - std::min(indent.size(), width / 2))) {
        text += (inline_reason ? "  " : "\n" + indent) + line;
        inline_reason = false;
      }
    }
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  for (const std::string& note : footnotes(report, times)) {
    for (const std::string& line : wrapped(note, width)) text += line + "\n";
  }
  text +=
      format("%d PASS, %d FAIL, %d SKIP, %d ERROR\n", report.count(Status::pass),
             report.count(Status::fail), report.count(Status::skip), report.count(Status::error));
  return text;
}

}  // namespace lab
