#pragma once

#include <cstddef>
#include <string_view>

#include "command_line/options.hpp"

namespace client {

/// A verb as it stands on the command line, and how many operands it takes.
struct VerbEntry {
  std::string_view name;
  Verb verb;
  std::size_t fewest;
  std::size_t most;
  std::string_view operands;  ///< as a message names them
};

/// nullptr if there is none of this name.
const VerbEntry* find_verb_entry(std::string_view name);

}  // namespace client
