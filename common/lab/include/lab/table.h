/// \file
/// The ladder table: one line per rung, in order, within 100 columns.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "lab/row.h"

namespace lab {

/// \addtogroup lab
/// @{

/// Whether a file descriptor is a terminal on which colours are welcome (see no-color.org).
inline bool wants_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb") && isatty(descriptor) == 1;
}

namespace detail {

/// `printf` into a string.
template <class... Args>
std::string format(const char* pattern, Args... args) {
  const int length = std::snprintf(nullptr, 0, pattern, args...);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern, args...);
  text.pop_back();
  return text;
}

/// 1234567 as "1,234,567".
inline std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

/// Milliseconds with four significant digits, whatever their size.
inline std::string milliseconds(double ms) {
  const int decimals = ms >= 1000 ? 0 : ms >= 100 ? 1 : ms >= 10 ? 2 : ms >= 1 ? 3 : 4;
  return format("%.*f", decimals, ms);
}

/// A rate with its thousands apart; small ones with decimals.
inline std::string rate(double value) {
  if (value >= 100) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return format("%.*f", value >= 10 ? 1 : 2, value);
}

/// `text` in lines of at most `width` characters, broken at spaces where there are any.
inline std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.size(), width);
    if (const std::size_t newline = text.substr(0, end).find('\n');
        newline != std::string_view::npos) {
      end = newline;
    } else if (end < text.size() && text[end] != ' ') {
      if (const std::size_t space = text.substr(0, end).rfind(' ');
          space != std::string_view::npos && space > 0) {
        end = space;
      }
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

inline std::uint64_t count_of(const Counts& counts, std::string_view name) {
  for (const auto& [key, value] : counts) {
    if (key == name) return value;
  }
  return 0;
}

/// `a / b` with one decimal, "-" where nothing was asked for.
inline std::string per(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? "-" : format("%.1f", static_cast<double>(a) / static_cast<double>(b));
}

/// The figures of a row, one per column of its backend's table; empty ones where it has none.
inline std::vector<std::string> figures(const Row& row, bool times) {
  if (times) {
    if (!row.time) return {};
    return {milliseconds(row.time->median),
            "(" + milliseconds(row.time->p10) + " .. " + milliseconds(row.time->p90) + ")",
            row.rate ? rate(*row.rate) + " " + row.rate_unit : "",
            row.ratio_to_peer ? format("%.1f %%", 100 * *row.ratio_to_peer) : "",
            row.fraction_of_limit ? format("%.1f %%", 100 * *row.fraction_of_limit) : ""};
  }
  if (row.counts.empty()) return {};
  const auto n = [&](std::string_view name) { return count_of(row.counts, name); };
  const std::uint64_t loads = n("global_load_requests"), stores = n("global_store_requests");
  const std::uint64_t shared = n("shared_load_requests") + n("shared_store_requests");
  return {grouped(loads),
          per(n("global_load_sectors"), loads),
          per(n("global_load_active_lanes"), loads),
          grouped(stores),
          per(n("global_store_sectors"), stores),
          per(n("global_store_active_lanes"), stores),
          shared == 0
              ? "-"
              : grouped(n("shared_load_bank_conflicts") + n("shared_store_bank_conflicts"))};
}

inline std::vector<std::string> headings(bool times) {
  if (times) return {"median ms", "(p10 .. p90)", "rate", "of peer", "of limit"};
  return {"loads", "sectors", "lanes", "stores", "sectors", "lanes", "conflicts"};
}

}  // namespace detail

/// Prints the ladder.
///
/// A row has its figures or, where it is no plain PASS, its reason. On the simulator the figures
/// are global load and store requests with sectors and active lanes per request, and the bank
/// conflicts of shared memory: never a time, since the time of a simulation says nothing.
///
/// \param out where to
/// \param report what to print
/// \param times whether the backend's times mean something
/// \param color whether to colour the status
/// \param width columns to stay within
inline void print_table(std::ostream& out, const Report& report, bool times, bool color = false,
                        std::size_t width = 100) {
  constexpr std::size_t longest_label = 34, status_width = 5;
  const std::vector<std::string> headings = detail::headings(times);

  std::size_t label_width = 4;  // "rung"
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings) widths.push_back(heading.size());
  for (const Row& row : report.rows) {
    if (row.label().size() <= longest_label) {
      label_width = std::max(label_width, row.label().size());
    }
    const std::vector<std::string> figures = detail::figures(row, times);
    for (std::size_t i = 0; i < figures.size(); ++i)
      widths[i] = std::max(widths[i], figures[i].size());
  }

  const auto pad_left = [](const std::string& text, std::size_t to) {
    return std::string(to - std::min(to, text.size()), ' ') + text;
  };
  const auto pad_right = [](const std::string& text, std::size_t to) {
    return text + std::string(to - std::min(to, text.size()), ' ');
  };
  const auto painted = [&](Status status) {
    const std::string text = pad_right(to_string(status), status_width);
    if (!color) return text;
    const char* code = status == Status::pass ? "32" : status == Status::skip ? "33" : "31";
    return "\033[" + std::string(code) + "m" + text + "\033[0m";
  };
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += (i == 0 ? "" : "  ") + pad_left(cells[i], widths[i]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
  };

  const std::size_t left = label_width + 2 + status_width + 2;
  out << pad_right("rung", label_width) << "  " << pad_right("", status_width) << "  "
      << line_of(headings) << '\n';
  for (const Row& row : report.rows) {
    const std::string label = row.label();
    if (label.size() > label_width) {
      out << label << '\n' << std::string(label_width, ' ');  // a long name has a line of its own
    } else {
      out << pad_right(label, label_width);
    }
    out << "  " << painted(row.status);
    const std::vector<std::string> figures = detail::figures(row, times);
    bool begun = false;
    if (!figures.empty()) {
      out << "  " << line_of(figures) << '\n';
      begun = true;
    }
    if (!row.reason.empty()) {
      for (const std::string& line :
           detail::wrapped(row.reason, width - std::min(left, width - 40))) {
        out << (begun ? std::string(left, ' ') : "  ") << line << '\n';
        begun = true;
      }
    }
    if (!begun) out << '\n';
  }

  if (!times) {
    const bool counted = std::any_of(report.rows.begin(), report.rows.end(),
                                     [](const Row& row) { return !row.counts.empty(); });
    if (counted) {
      out << "loads, stores: requests to global memory, one per warp instruction, with 32-byte "
             "sectors "
             "and\nactive lanes per request; conflicts: bank conflicts in shared memory\n";
    }
  }
  std::vector<std::string> peers;
  for (const Row& row : report.rows) {
    if (!row.peer || std::find(peers.begin(), peers.end(), row.peer->name) != peers.end()) continue;
    peers.push_back(row.peer->name);
    out << "peer " << row.peer->name << ": " << detail::milliseconds(row.peer->time.median)
        << " ms";
    if (row.peer->rate > 0) out << ", " << detail::rate(row.peer->rate) << " " << row.rate_unit;
    out << " beside " << row.label() << '\n';
  }
  for (const auto& [name, value] : report.limits) {
    if (name == "copy_gb_s") {
      out << "limit: a copy in device memory moves " << detail::rate(value)
          << " GB/s here, read plus written\n";
    } else if (name == "fp32_gflop_s") {
      out << "limit: a loop of FMAs reaches " << detail::rate(value) << " GFLOP/s here in float\n";
    }
  }
  out << report.count(Status::pass) << " PASS, " << report.count(Status::fail) << " FAIL, "
      << report.count(Status::skip) << " SKIP, " << report.count(Status::error) << " ERROR\n";
}

/// @}

}  // namespace lab
