#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace client {

using Milliseconds = std::chrono::milliseconds;

/// A number with ms, s, m or h; a bare number is seconds; fractions are allowed ("1.5s"). Nothing
/// if it is not that, is negative, or is longer than a year.
std::optional<Milliseconds> parse_duration(std::string_view text);

/// For people: "850 ms", "12 s", "3 m 20 s", "2 h 5 m", "3 d 4 h".
std::string format_duration(Milliseconds duration);

}  // namespace client
