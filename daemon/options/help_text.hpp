#pragma once

#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace bridge {

/// What --help prints, within 80 columns: the two ways to call the daemon, and the options in their
/// groups, each with its variable of the environment and its default.
std::string help_text(const std::vector<OptionTable::Row>& options);

}  // namespace bridge
