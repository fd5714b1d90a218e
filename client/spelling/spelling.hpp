#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/shell_word.hpp"

namespace client {

using bridge::shell_word;

/// The words of a command line, split as by a shell: quotes and backslashes, no expansion. nullopt
/// if a quote is not closed. Pure.
std::optional<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace client
