#pragma once

#include <string>
#include <vector>

/// Builds man pages and completions from the options as the programs themselves name them. Runs
/// when the project is built; nothing of it is in the programs.
namespace documents {

/// An option of either program.
struct DocumentedOption {
  std::string group;
  std::vector<std::string> names;  ///< `-s`, `--socket`; at least one
  std::string value;               ///< `FILE`, `a|b|c`; empty for a flag
  std::string text;                ///< without its default
  std::string default_value;
  std::string variable;
  std::vector<std::string> commands{};  ///< that take it; empty: it is not about one
};

}  // namespace documents
