#include "text/decimal.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace bridge {
namespace {

template <typename Print>
std::string printed(Print print) {
  const int size = print(nullptr, 0);
  std::string text(static_cast<std::size_t>(size), '\0');
  print(text.data(), text.size() + 1);
  return text;
}

}  // namespace

std::optional<double> to_double(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.begin(), number.end(), value);
  if (error != std::errc() || end != number.end() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string shortest_text(double number) {
  constexpr int always_kept = 15;  // digits: DBL_DIG
  constexpr int always_enough = 17;
  for (int digits = always_kept; digits < always_enough; ++digits) {
    std::string text = general_text(number, digits);
    if (to_double(text) == number) return text;
  }
  return general_text(number, always_enough);
}

std::string general_text(double number, int digits) {
  return printed(
      [&](char* to, std::size_t room) { return std::snprintf(to, room, "%.*g", digits, number); });
}

std::string fixed_text(double number, int digits) {
  return printed(
      [&](char* to, std::size_t room) { return std::snprintf(to, room, "%.*f", digits, number); });
}

}  // namespace bridge
