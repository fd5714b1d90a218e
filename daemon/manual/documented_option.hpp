#pragma once

#include <string>
#include <vector>

#include "cli/option.hpp"

/// Builds man pages and completions from the options as the programs define them. Runs when the
/// project is built; not part of the programs.
namespace documents {

/// An option of either program.
struct DocumentedOption : cli::Option {
  std::vector<std::string> commands{};  ///< that take it; empty: all
};

}  // namespace documents
