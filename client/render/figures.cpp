#include "render/figures.hpp"

#include <fmt/format.h>

namespace client {
namespace {

/// Two digits or more, not more after the point than needed for that.
std::string short_number(double number) {
  return number < 10 ? fmt::format("{:.1f}", number) : fmt::format("{:.0f}", number);
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    const bool is_whole = amount == static_cast<double>(static_cast<std::uint64_t>(amount));
    if (amount < 1024)
      return fmt::format("{} {}", is_whole ? fmt::format("{:.0f}", amount) : short_number(amount),
                         unit);
    amount /= 1024;
  }
  return fmt::format("{:.1f} TiB", amount);
}

std::string time_text(std::uint64_t microseconds) {
  if (microseconds < 10'000) return fmt::format("{} us", microseconds);
  const double milliseconds = static_cast<double>(microseconds) / 1000;
  if (milliseconds < 10'000)
    return fmt::format("{:.{}f} ms", milliseconds, milliseconds < 100 ? 1 : 0);
  return fmt::format("{:.1f} s", milliseconds / 1000);
}

std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return fmt::format("{:.{}f} %", percent, percent > 0 && percent < 10 ? 1 : 0);
}

}  // namespace client
