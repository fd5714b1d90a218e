#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The text as one word of a shell's command line: quoted, unless it is plain in every shell. Pure.
std::string shell_word(std::string_view text);

/// The words of a command line, split as by a shell: quotes and backslashes, no expansion. nullopt
/// if a quote is not closed. Pure.
std::optional<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace bridge
