#include "upstream/stdio/child_line.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "jsonrpc/frame.hpp"

namespace bridge {
namespace {

/// A line up to this length is looked at as a whole; that costs little.
constexpr std::size_t short_line = 64u << 10;

/// A long message is not to be read twice: it names its protocol near one of its ends.
bool names_protocol(std::string_view line) {
  constexpr std::string_view sign = "\"jsonrpc\"";
  constexpr std::size_t near = 64;
  return line.substr(0, near).find(sign) != line.npos ||
         line.substr(line.size() - std::min(near, line.size())).find(sign) != line.npos;
}

}  // namespace

bool is_message(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == line.npos || (line[first] != '{' && line[first] != '[')) return false;
  if (line.size() > short_line && names_protocol(line)) return true;
  if (is_batch(line)) return !std::holds_alternative<FrameFault>(parse_batch(line));
  return !std::holds_alternative<FrameFault>(parse_frame(line));
}

}  // namespace bridge
