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

/// Whether case, `-` and `_` are all that tells them apart.
bool is_nearly_same(std::string_view left, std::string_view right);

/// The name that was probably meant, "" if none is near enough: a third of the letters may be
/// wrong, missing, too many or swapped with the next one; case, `-` and `_` do not count. A name
/// that begins with what was written is near, too.
std::string most_similar(std::string_view wanted, const std::vector<std::string_view>& names);

/// `; did you mean 'NAME'?`, or "" if there is none.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace client
