#pragma once

#include <string>
#include <vector>

namespace bridge {

/// One option as --help has it, for the man page and the shells' completions.
struct OptionDescription {
  std::string group;
  std::vector<std::string> names;  ///< `--ring`, `-h`, also the negated `--no-control`
  std::string value;               ///< `FILE`, `SIZE`, `lazy|client|eager`; empty for a flag
  std::string default_value;       ///< empty: none
  std::string variable;            ///< of the environment; empty: none
  std::string text;
};

/// What stands behind `--`: no option, but named where they are.
OptionDescription describe_command();

/// All options of mcp-bridged and the command, in the order of --help.
std::vector<OptionDescription> describe_options();

}  // namespace bridge
