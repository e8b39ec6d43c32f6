#include "lab/command_line.h"

#include <getopt.h>

#include <algorithm>
#include <numeric>

namespace lab {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& names) {
  std::optional<std::string> best;
  std::size_t distance = std::max<std::size_t>(typed.size() / 3, 2) + 1;
  for (const std::string& name : names) {
    const bool within = !typed.empty() && name.find(typed) != std::string::npos;
    const std::size_t d = within ? 1 : edit_distance(typed, name);
    if (d < distance) best = name, distance = d;
  }
  return best;
}

CaseRange parse_cases(std::string_view text, std::size_t count) {
  if (text == "all") return {0, count - 1};
  const std::size_t dash = text.find('-');
  std::uint64_t first = 0, last = 0;
  const bool good = parse_number(text.substr(0, dash), first) &&
                    (dash == std::string_view::npos ? (last = first, true)
                                                    : parse_number(text.substr(dash + 1), last));
  if (!good || first > last || last >= count) {
    throw BadInput("--cases '" + std::string(text) +
                   "': legal is all, a number or FIRST-LAST, from 0 to " +
                   std::to_string(count - 1));
  }
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

Options parse_command_line(int argc, char** argv, SizeKind kind, std::string_view default_size,
                           bool has_cases, const std::vector<OwnOption>& own) {
  enum { help = 1, list, rung, size, seed, json, cases, first_own = 1000 };
  std::vector<option> table = {
      {"help", no_argument, nullptr, help},        {"list", no_argument, nullptr, list},
      {"rung", required_argument, nullptr, rung},  {"size", required_argument, nullptr, size},
      {"seed", required_argument, nullptr, seed},  {"json", required_argument, nullptr, json},
      {"cases", required_argument, nullptr, cases}};
  std::string more;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool has_value = !own[i].value.empty();
    table.push_back({own[i].name.c_str(), has_value ? required_argument : no_argument, nullptr,
                     first_own + static_cast<int>(i)});
    more += ", --" + own[i].name + (has_value ? " " + own[i].value : "");
  }
  table.push_back({nullptr, 0, nullptr, 0});
  const std::string legal = "; legal are --help, --list, --rung NAME, --size " + spelling(kind) +
                            ", --seed S, --json FILE" + (has_cases ? ", --cases WHICH" : "") + more;

  Options options;
  std::vector<char*> words(argv, argv + argc);  // getopt reorders what it reads
  words.push_back(nullptr);
  optind = 0;  // starts anew, also for the second command line of one process
  opterr = 0;
  for (;;) {
    const int before = optind == 0 ? 1 : optind;
    const int found = getopt_long(argc, words.data(), ":h", table.data(), nullptr);
    if (found == -1) break;
    switch (found) {
      case help:
      case 'h':
        options.help = true;
        break;
      case list:
        options.list = true;
        break;
      case rung:
        if (*optarg == '\0') throw BadInput("--rung '': a rung has a name; --list shows them");
        options.rungs.emplace_back(optarg);
        break;
      case size:
        options.sizes.push_back(parse_size(optarg, kind));
        break;
      case seed:
        if (!parse_number(optarg, options.seed)) {
          throw BadInput("--seed '" + std::string(optarg) +
                         "': legal is a whole number from 0 to 18446744073709551615");
        }
        break;
      case json:
        if (*optarg == '\0') throw BadInput("--json '': legal is the name of a file");
        options.json = optarg;
        break;
      case cases:
        if (!has_cases) throw BadInput("unknown option '--cases'" + legal);
        if (*optarg == '\0') throw BadInput("--cases '': legal is all, a number or FIRST-LAST");
        options.cases = optarg;
        break;
      case ':':
        throw BadInput(std::string(words[optind - 1]) + " lacks its value" + legal);
      default: {
        if (found >= first_own) {
          own[static_cast<std::size_t>(found - first_own)].take(optarg == nullptr ? "" : optarg);
          break;
        }
        const char* const word = words[optind > before ? optind - 1 : before];
        throw BadInput("unknown option '" + std::string(word == nullptr ? "" : word) + "'" + legal);
      }
    }
  }
  if (optind < argc) {
    throw BadInput("unexpected argument '" + std::string(words[optind]) + "'" + legal);
  }
  if (options.sizes.empty()) {
    if (!default_size.empty()) {
      options.sizes.push_back(parse_size(default_size, kind));
    } else if (options.help || options.list) {
      options.sizes.push_back(Size{.kind = kind});
    } else {
      throw BadInput("no size: give --size " + spelling(kind));
    }
  }
  return options;
}

}  // namespace lab
