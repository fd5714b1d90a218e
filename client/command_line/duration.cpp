#include "command_line/duration.hpp"

#include <fmt/format.h>

namespace client {

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
