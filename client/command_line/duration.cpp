#include "command_line/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace client {
namespace {

constexpr double longest_ms = 366.0 * 24 * 3600 * 1000;

std::optional<double> unit_in_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s") return 1000;
  if (unit == "m") return 60 * 1000;
  if (unit == "h") return 3600 * 1000;
  return std::nullopt;
}

}  // namespace

std::optional<Milliseconds> parse_duration(std::string_view text) {
  const char* const end = text.data() + text.size();
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const auto unit = unit_in_ms({rest, static_cast<std::size_t>(end - rest)});
  if (!unit) return std::nullopt;
  const double milliseconds = std::ceil(number * *unit);
  if (milliseconds > longest_ms) return std::nullopt;
  return Milliseconds(static_cast<Milliseconds::rep>(milliseconds));
}

std::string format_duration(Milliseconds duration) {
  const auto ms = duration.count();
  const auto seconds = ms / 1000;
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} m {} s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{} h {} m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds / 3600 % 24);
}

}  // namespace client
