#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Whether they differ only in case, `-` and `_`.
bool is_nearly_same(std::string_view left, std::string_view right);

/// The name that was probably meant, "" if none is similar enough: a third of the letters may be
/// wrong, missing, extra or swapped with the next one; case, `-` and `_` do not count. A name that
/// starts with `wanted` is similar, too.
std::string most_similar(std::string_view wanted, const std::vector<std::string_view>& names);

/// `; did you mean 'NAME'?`, or "" if no name is similar.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace bridge
