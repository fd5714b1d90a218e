#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace client {

/// The text as one word of a shell's command line: quoted, unless every shell takes it as it is.
std::string shell_word(std::string_view text);

/// The words of a command line, as a shell splits it: quotes and backslashes, nothing is expanded.
/// Nothing if a quote is not closed. Pure.
std::optional<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace client
