#pragma once

#include <getopt.h>

#include <algorithm>
#include <numeric>

#include "lab/command_line.h"
#include "lab/config.h"

namespace lab {

LAB_INLINE std::size_t edit_distance(std::string_view a, std::string_view b) {
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

LAB_INLINE std::optional<std::string> nearest(std::string_view typed,
                                              const std::vector<std::string>& names) {
  std::optional<std::string> best;
  std::size_t distance = std::max<std::size_t>(typed.size() / 3, 2) + 1;
  for (const std::string& name : names) {
    const bool within = !typed.empty() && name.find(typed) != std::string::npos;
    const std::size_t d = within ? 1 : edit_distance(typed, name);
    if (d < distance) best = name, distance = d;
  }
  return best;
}

LAB_INLINE Options parse_command_line(int argc, char** argv, SizeKind kind,
                                      std::string_view default_size) {
  enum { help = 1, list, rung, size, seed, json };
  static const option table[] = {{"help", no_argument, nullptr, help},
                                 {"list", no_argument, nullptr, list},
                                 {"rung", required_argument, nullptr, rung},
                                 {"size", required_argument, nullptr, size},
                                 {"seed", required_argument, nullptr, seed},
                                 {"json", required_argument, nullptr, json},
                                 {nullptr, 0, nullptr, 0}};
  const std::string legal = "; legal are --help, --list, --rung NAME, --size " + spelling(kind) +
                            ", --seed S, --json FILE";

  Options options;
  std::string size_text(default_size);
  bool sized = !default_size.empty();
  std::vector<char*> words(argv, argv + argc);  // getopt reorders what it reads
  words.push_back(nullptr);
  optind = 0;  // starts anew, also for the second command line of one process
  opterr = 0;
  for (;;) {
    const int before = optind == 0 ? 1 : optind;
    const int found = getopt_long(argc, words.data(), ":h", table, nullptr);
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
        size_text = optarg;
        sized = true;
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
      case ':':
        throw BadInput(std::string(words[optind - 1]) + " lacks its value" + legal);
      default: {
        const char* const word = words[optind > before ? optind - 1 : before];
        throw BadInput("unknown option '" + std::string(word == nullptr ? "" : word) + "'" + legal);
      }
    }
  }
  if (optind < argc) {
    throw BadInput("unexpected argument '" + std::string(words[optind]) + "'" + legal);
  }
  if (sized) {
    options.size = parse_size(size_text, kind);
  } else if (!options.help && !options.list) {
    throw BadInput("no size: give --size " + spelling(kind));
  }
  return options;
}

}  // namespace lab
