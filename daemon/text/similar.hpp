#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Whether case, `-` and `_` are all that tells them apart.
bool is_nearly_same(std::string_view left, std::string_view right);

/// The name that was probably meant, "" if none is near enough: a third of the letters may be
/// wrong, missing, too many or swapped with the next one; case, `-` and `_` do not count. A name
/// that begins with what was written is near, too.
std::string most_similar(std::string_view wanted, const std::vector<std::string_view>& names);

/// `; did you mean 'NAME'?`, or "" if there is none.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace bridge
