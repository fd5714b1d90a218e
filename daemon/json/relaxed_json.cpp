#include "json/relaxed_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

/// In UTF-8.
bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The end of the string that starts at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

/// The end of the comment that starts at `at`; `at` itself if there is none, npos if it never ends.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (!rest.starts_with("/*")) return at;
  const auto end = text.find("*/", at + 2);
  return end == text.npos ? end : end + 2;
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  std::replace_if(
      text.begin() + static_cast<std::ptrdiff_t>(begin),
      text.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return !is_space(c); }, ' ');
}

}  // namespace

std::string strict_json(std::string_view given) {
  std::string text(given);
  if (given.starts_with(byte_order_mark)) blank(text, 0, byte_order_mark.size());
  char last = '\0';         // the last significant character
  char before_last = '\0';  // and the one before it
  std::size_t last_at = 0;
  const auto counts = [&](std::size_t at) {
    before_last = last;
    last = text[at];
    last_at = at;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      counts(at);
      at = end_of_string(text, at);
      continue;
    }
    const std::size_t end = c == '/' ? end_of_comment(text, at) : at;
    if (end == text.npos) break;  // kept, and not valid JSON
    if (end > at) {
      blank(text, at, end);
      at = end;
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (closes && last == ',' && before_last != '\0' &&
        std::string_view("[{,:").find(before_last) == std::string_view::npos)
      text[last_at] = ' ';
    if (!is_space(c)) counts(at);
    ++at;
  }
  return text;
}

std::string place_of_fault(std::string_view text) {
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  const bool is_value = scanner.value(value);
  scanner.skip_space();
  return is_value && scanner.at_end() ? std::string() : place_at(text, scanner.position());
}

std::string place_at(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  return fmt::format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1,
                     std::count_if(line.begin(), line.end(), starts_character) + 1);
}

std::size_t DocumentReader::line_at(std::size_t position) const {
  const std::string_view before = std::string_view(text_).substr(0, position);
  return static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
}

std::size_t DocumentReader::line_of(std::string_view part) const {
  return line_at(static_cast<std::size_t>(part.data() - text_.data()));
}

DocumentReader::Members DocumentReader::members(std::string_view object,
                                                const std::string& complaint) const {
  Members all;
  std::set<std::string> names;
  const bool is_object = each_member(object, [&](std::string_view key, std::string_view value) {
    std::string name = unescape(key);
    if (!names.insert(name).second)
      fail(value, fmt::format("duplicate member '{}'", cut_off(make_visible_line(name), 80)));
    all.emplace_back(std::move(name), value);
    return true;
  });
  if (!is_object) fail(object, complaint);
  return all;
}

std::vector<std::string_view> DocumentReader::elements(std::string_view array,
                                                       const std::string& complaint) const {
  std::vector<std::string_view> all;
  const bool is_list = each_element(array, [&](std::string_view value) {
    all.push_back(value);
    return true;
  });
  if (!is_list) fail(array, complaint);
  return all;
}

}  // namespace bridge
