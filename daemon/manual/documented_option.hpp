#pragma once

#include <string>
#include <vector>

#include "cli/option.hpp"

/// Builds man pages and completions from the options as the programs themselves name them. Runs
/// when the project is built; nothing of it is in the programs.
namespace documents {

/// An option of either program.
struct DocumentedOption : cli::Option {
  std::vector<std::string> commands{};  ///< that take it; empty: it is not about one
};

}  // namespace documents
