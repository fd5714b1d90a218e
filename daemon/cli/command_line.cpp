#include "cli/command_line.hpp"

#include "text/similar.hpp"

namespace cli {

std::string unknown_option(std::string_view spelling, const std::vector<std::string_view>& names) {
  std::string text = "unknown option '" + std::string(spelling) + "'";
  const std::string meant =
      spelling.starts_with("--") ? bridge::most_similar(spelling.substr(2), names) : std::string();
  return meant.empty() ? text : text + "; did you mean '--" + meant + "'?";
}

}  // namespace cli
