#include "json/canonical_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/json_text.hpp"

namespace bridge {
namespace {

void append_string(std::string& out, std::string_view raw) {
  if (raw.find('\\') == raw.npos) {
    out += '"';
    out += raw;
    out += '"';
  } else {
    out += quote(unescape(raw));
  }
}

/// Down to this level, values whose members are already in order are written in one pass. Not
/// deeper, since any others are read twice.
constexpr std::size_t most_tried = 3;

bool append_value(std::string& out, JsonScanner& scanner, std::string_view text, std::size_t level);

/// Appends an object whose members are in order, and whose names need no escapes. False, and
/// nothing is appended: they are not, or the text is not valid JSON.
bool append_in_order(std::string& out, JsonScanner& scanner, std::string_view text,
                     std::size_t level) {
  const JsonScanner beginning = scanner;
  const std::size_t before = out.size();
  std::string_view last;
  char separator = '{';
  const bool is_in_order = scanner.object([&](Slice key) {
    const std::string_view name = key.of(text);
    const bool needs_escapes = name.find('\\') != name.npos || name.find('\x7f') != name.npos;
    if (needs_escapes || (separator == ',' && name <= last)) return false;
    last = name;
    out += std::exchange(separator, ',');
    out += '"';
    out.append(name).append("\":");
    return append_value(out, scanner, text, level + 1);
  });
  if (is_in_order) {
    out += separator == '{' ? "{}" : "}";
  } else {
    out.resize(before);
    scanner = beginning;
  }
  return is_in_order;
}

/// Appends one value. Recursive to the scanner's depth, some hundred bytes of stack per level.
bool append_value(std::string& out, JsonScanner& scanner, std::string_view text,
                  std::size_t level) {
  if (scanner.peek() == '{') {
    if (level < most_tried && append_in_order(out, scanner, text, level)) return true;
    std::vector<std::pair<std::string, std::string>> members;
    if (!scanner.object([&](Slice key) {
          auto& [name, value] = members.emplace_back(unescape(key.of(text)), std::string());
          return append_value(value, scanner, text, level + 1);
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
          return append_value(out, scanner, text, level + 1);
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

void append_canonical_json(std::string& out, std::string_view value) {
  JsonScanner scanner(value);
  scanner.skip_space();
  append_value(out, scanner, value, 0);
}

std::string canonical_json(std::string_view value) {
  std::string out;
  append_canonical_json(out, value);
  return out;
}

}  // namespace bridge
