#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "command_line/options.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// What a server has with all the words in it.
struct Hits {
  bool has_any = false;
  std::string text;  ///< a line for each
  std::string json;  ///< the members of an object: the lists, each with its hits
};

/// Looks into all that the server lists. Each line begins with `prefix`. A list that the server
/// answers with an error of its own is empty; else the Answer says why nothing is known.
std::variant<Hits, Answer> find_hits(Dialogue& dialogue, const Options& options,
                                     std::string_view prefix);

/// The same in every server that files name, side by side. A daemon that does not run is started,
/// unless that is not wanted. Why one was left out is told on stderr, and
/// with --json in its place.
ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt);

}  // namespace client
