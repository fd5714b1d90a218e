#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

using Milliseconds = std::chrono::milliseconds;

/// A number with `ms`, `s`, `m` or `h`; a bare number is seconds. Fractions are allowed ("1.5s").
/// nullopt if it is not a duration, is negative, or is longer than ten years.
std::optional<Milliseconds> parse_duration(std::string_view text);

/// A whole number with `K`, `M`, `G` (or `KiB`, `MiB`, `GiB`), powers of 1024; bare: bytes.
std::optional<std::size_t> parse_size(std::string_view text);

/// For people: "850 ms", "12 s", "3 m 20 s", "2 h 5 m", "3 d 4 h".
std::string format_duration(Milliseconds duration);

}  // namespace cli
