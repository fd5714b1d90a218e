#include "json/canonical_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/json_text.hpp"

namespace bridge {
namespace {

void append_string(std::string& out, std::string_view raw) {
  if (raw.find('\\') == raw.npos) {
    out.append(1, '"').append(raw).append(1, '"');
  } else {
    out += quote(unescape(raw));
  }
}

/// Takes one value. As deep as the scanner allows, some hundred bytes of stack a level.
bool append_value(std::string& out, JsonScanner& scanner, std::string_view text) {
  if (scanner.peek() == '{') {
    std::vector<std::pair<std::string, std::string>> members;
    if (!scanner.object([&](Slice key) {
          auto& [name, value] = members.emplace_back(unescape(key.of(text)), std::string());
          return append_value(value, scanner, text);
        }))
      return false;
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    char before = '{';
    for (const auto& [name, value] : members) {
      out.append(1, std::exchange(before, ',')).append(quote(name)).append(1, ':').append(value);
    }
    out += members.empty() ? "{}" : "}";
    return true;
  }
  if (scanner.peek() == '[') {
    out += '[';
    bool is_first = true;
    if (!scanner.array([&] {
          if (!std::exchange(is_first, false)) out += ',';
          return append_value(out, scanner, text);
        }))
      return false;
    out += ']';
    return true;
  }
  Slice raw;
  if (!scanner.value(raw)) return false;
  const std::string_view value = raw.of(text);
  if (is_string(value)) {
    append_string(out, value.substr(1, value.size() - 2));
  } else {
    out += value;
  }
  return true;
}

}  // namespace

std::string canonical_json(std::string_view value) {
  std::string out;
  JsonScanner scanner(value);
  scanner.skip_space();
  append_value(out, scanner, value);
  return out;
}

}  // namespace bridge
