#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace cli {

/// A number with `ms`, `s`, `m` or `h`; a bare number is seconds. Fractions are allowed ("1.5s").
/// Nothing if it is not one, is negative, or is longer than ten years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number with `K`, `M`, `G` (or `KiB`, `MiB`, `GiB`), powers of 1024; bare: bytes.
std::optional<std::size_t> parse_size(std::string_view text);

}  // namespace cli
