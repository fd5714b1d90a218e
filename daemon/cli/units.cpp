#include "cli/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "text/decimal.hpp"

namespace cli {

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr double longest = 10.0 * 366 * 24 * 3600 * 1000;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = bridge::to_double(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  double factor = 0;
  if (unit == "ms") {
    factor = 1;
  } else if (unit.empty() || unit == "s") {
    factor = 1000;
  } else if (unit == "m") {
    factor = 60'000;
  } else if (unit == "h") {
    factor = 3'600'000;
  } else {
    return std::nullopt;
  }
  if (*number * factor > longest) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::llround(*number * factor)));
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  unsigned shift = 0;
  if (unit == "K" || unit == "KiB") {
    shift = 10;
  } else if (unit == "M" || unit == "MiB") {
    shift = 20;
  } else if (unit == "G" || unit == "GiB") {
    shift = 30;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  if (number > (SIZE_MAX >> shift)) return std::nullopt;
  return number << shift;
}

std::string format_duration(Milliseconds duration) {
  const auto ms = duration.count();
  const auto seconds = ms / 1000;
  const auto two = [](auto whole, const char* unit, auto part, const char* smaller) {
    const std::string text = fmt::format("{} {}", whole, unit);
    return part == 0 ? text : fmt::format("{} {} {}", text, part, smaller);
  };
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 10'000 && ms / 100 % 10 != 0) return fmt::format("{}.{} s", seconds, ms / 100 % 10);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "min");
  return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

}  // namespace cli
