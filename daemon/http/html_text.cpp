#include "http/html_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "http/character_reference.hpp"
#include "text/ascii.hpp"
#include "text/byte_order_mark.hpp"
#include "text/code_point.hpp"

namespace bridge {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_letter(char c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; }

bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

/// `start` in lower case.
bool begins_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char wanted, char found) { return wanted == ascii_lower(found); });
}

std::size_t find_any_case(std::string_view text, std::string_view wanted) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_with(text.substr(at), wanted)) return at;
  }
  return text.npos;
}

/// Elements that stand within a line; every other one begins a new line.
bool is_inline(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {
      "a", "abbr", "b", "code", "em", "i", "small", "span", "font", "tt", "strong", "u"};
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) {
    return name.size() == one.size() && begins_with(name, one);
  });
}

/// Runs of white space are one space, and a line begins with none.
void append_space(std::string& line) {
  if (!line.empty() && line.back() != ' ') line.push_back(' ');
}

/// What begins with '&': the character that is meant, else the sign itself.
void append_reference(std::string& line, std::string_view& rest) {
  constexpr std::uint32_t no_break_space = 0xA0;
  const auto reference = read_character_reference(rest);
  if (!reference) {
    line.push_back('&');
    rest.remove_prefix(1);
    return;
  }
  const std::uint32_t character = reference->code_point;
  if (character == no_break_space || (character < 0x80 && is_space(static_cast<char>(character)))) {
    append_space(line);
  } else {
    append_utf8(line, character);
  }
  rest.remove_prefix(reference->length);
}

void skip_behind(std::string_view& rest, std::string_view end) {
  const std::size_t at = find_any_case(rest, end);
  rest.remove_prefix(at == rest.npos ? rest.size() : at + end.size());
}

/// Takes a tag, with all that a browser does not show behind it. Whether it ends the line.
bool take_tag(std::string_view& rest) {
  if (rest.starts_with("<!--")) {
    skip_behind(rest, "-->");
    return false;
  }
  std::string_view name = rest.substr(1, 16);
  if (name.starts_with('/')) name.remove_prefix(1);
  name = name.substr(0, static_cast<std::size_t>(
                            std::find_if_not(name.begin(), name.end(), is_name) - name.begin()));
  const bool is_script = rest[1] != '/' && name.size() == 6 && begins_with(name, "script");
  const bool is_style = rest[1] != '/' && name.size() == 5 && begins_with(name, "style");
  skip_behind(rest, is_script ? "</script" : is_style ? "</style" : ">");
  if (is_script || is_style) skip_behind(rest, ">");
  return !is_inline(name);
}

/// What may stand before a page's first tag: a byte order mark, white space, an XML declaration.
std::string_view without_beginning(std::string_view body) {
  if (body.starts_with(byte_order_mark)) body.remove_prefix(byte_order_mark.size());
  const auto skip_space = [&body] {
    while (!body.empty() && is_space(body.front())) body.remove_prefix(1);
  };
  skip_space();
  if (body.starts_with("<?xml")) skip_behind(body, "?>");
  skip_space();
  return body;
}

/// The elements that say of a text that it is a page if it begins with one: those of the MIME
/// Sniffing Standard, section 7.1, and others that errors begin with.
bool begins_page(std::string_view name) {
  constexpr std::array<std::string_view, 32> names = {
      "html", "head",  "script", "iframe", "h1",    "h2", "h3",   "h4", "h5",   "h6",     "div",
      "font", "table", "a",      "style",  "title", "b",  "body", "br", "p",    "center", "pre",
      "meta", "link",  "span",   "strong", "em",    "i",  "hr",   "ul", "main", "section"};
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) {
    return name.size() == one.size() && begins_with(name, one);
  });
}

}  // namespace

bool is_web_page(std::string_view content_type, std::string_view body) {
  if (begins_with(content_type, "text/html") || begins_with(content_type, "application/xhtml"))
    return true;
  body = without_beginning(body);
  if (begins_with(body, "<!doctype html") || body.starts_with("<!--")) return true;
  if (!body.starts_with('<')) return false;
  body.remove_prefix(1);
  const auto end = std::find_if_not(body.begin(), body.end(), is_name);
  if (end != body.end() && !is_space(*end) && *end != '>' && *end != '/') return false;
  return begins_page(body.substr(0, static_cast<std::size_t>(end - body.begin())));
}

std::string first_line_of_page(std::string_view page) {
  constexpr std::string_view behind_angle = "/!?";
  std::string line;
  page = without_beginning(page);
  while (!page.empty()) {
    const char c = page.front();
    const bool is_tag = c == '<' && page.size() > 1 &&
                        (is_letter(page[1]) || behind_angle.find(page[1]) != behind_angle.npos);
    if (is_tag) {
      if (take_tag(page) && !line.empty()) break;
    } else if (c == '&') {
      append_reference(line, page);
    } else {
      if (is_space(c)) {
        append_space(line);
      } else {
        line.push_back(c);
      }
      page.remove_prefix(1);
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace bridge
