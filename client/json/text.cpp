#include "json/text.hpp"

#include <fmt/format.h>

#include "text/json_scanner.hpp"
#include "text/json_text.hpp"

namespace client::json {
namespace {

using bridge::JsonScanner;
using bridge::Slice;

bool only_space_left(JsonScanner& scanner) {
  scanner.skip_space();
  return scanner.at_end();
}

char first_character(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

/// Whether a key, as it stands between its quotes, is this name.
bool spells(std::string_view raw_key, std::string_view name) {
  if (raw_key.find('\\') == raw_key.npos) return raw_key == name;
  return bridge::unescape(raw_key) == name;
}

}  // namespace

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

bool is_valid(std::string_view text) {
  const auto value = leading_value(text);
  if (!value) return false;
  return text.find_first_not_of(" \t\r\n", static_cast<std::size_t>(value->end() - text.begin())) ==
         std::string_view::npos;
}

std::optional<std::string_view> leading_value(std::string_view text) {
  JsonScanner scanner(text);
  scanner.skip_space();
  Slice value;
  if (!scanner.value(value)) return std::nullopt;
  return value.of(text);
}

std::optional<std::vector<RawMember>> members(std::string_view text) {
  std::vector<RawMember> found;
  JsonScanner scanner(text);
  scanner.skip_space();
  const bool is_whole = scanner.object([&](Slice key) {
    Slice value;
    if (!scanner.value(value)) return false;
    const Slice quoted{key.begin - 1, key.end + 1};
    found.push_back({quoted.of(text), value.of(text)});
    return true;
  });
  if (!is_whole || !only_space_left(scanner)) return std::nullopt;
  return found;
}

std::optional<std::vector<std::string_view>> elements(std::string_view text) {
  std::vector<std::string_view> found;
  JsonScanner scanner(text);
  scanner.skip_space();
  const bool is_whole = scanner.array([&] {
    Slice value;
    if (!scanner.value(value)) return false;
    found.push_back(value.of(text));
    return true;
  });
  if (!is_whole || !only_space_left(scanner)) return std::nullopt;
  return found;
}

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  JsonScanner scanner(object);
  scanner.skip_space();
  const bool is_whole = scanner.object([&](Slice key) {
    Slice value;
    if (!scanner.value(value)) return false;
    if (!found && spells(key.of(object), name)) found = value.of(object);
    return true;
  });
  return is_whole && only_space_left(scanner) ? found : std::nullopt;
}

std::string string_member(std::string_view object, std::string_view name) {
  const auto found = member(object, name);
  return found && is_string(*found) ? decode_string(*found) : std::string();
}

bool is_object(std::string_view valid_json) { return first_character(valid_json) == '{'; }
bool is_array(std::string_view valid_json) { return first_character(valid_json) == '['; }
bool is_string(std::string_view valid_json) { return first_character(valid_json) == '"'; }

std::string decode_string(std::string_view quoted) {
  return quoted.size() < 2 ? std::string() : bridge::unescape(quoted.substr(1, quoted.size() - 2));
}

}  // namespace client::json
