#include "json/text.hpp"

#include <fmt/format.h>

namespace client::json {
std::string quote(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size() + 2);
  out.push_back('"');
  std::size_t plain = 0;  // where what needs no escape began
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const char c = utf8[at];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(utf8, plain, at - plain);
    plain = at + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out.append(utf8, plain);
  out.push_back('"');
  return out;
}

std::string on_one_line(std::string_view valid_json) {
  std::string out(valid_json);
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

}  // namespace client::json
