#include "upstream/http/html_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bridge {
namespace {

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_name(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9');
}

/// `start` in lower case.
bool begins_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char wanted, char found) { return wanted == to_lower(found); });
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

void append_reference(std::string& line, std::string_view& rest) {
  constexpr std::array<std::pair<std::string_view, char>, 7> known = {{{"&amp;", '&'},
                                                                       {"&lt;", '<'},
                                                                       {"&gt;", '>'},
                                                                       {"&quot;", '"'},
                                                                       {"&#39;", '\''},
                                                                       {"&apos;", '\''},
                                                                       {"&nbsp;", ' '}}};
  for (const auto& [written, meant] : known) {
    if (!begins_with(rest, written)) continue;
    line.push_back(meant);
    rest.remove_prefix(written.size());
    return;
  }
  line.push_back('&');
  rest.remove_prefix(1);
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

}  // namespace

bool is_web_page(std::string_view content_type, std::string_view body) {
  if (begins_with(content_type, "text/html") || begins_with(content_type, "application/xhtml"))
    return true;
  while (!body.empty() && is_space(body.front())) body.remove_prefix(1);
  return begins_with(body, "<!doctype html") || begins_with(body, "<html");
}

std::string first_line_of_page(std::string_view page) {
  std::string line;
  while (!page.empty()) {
    const char c = page.front();
    const bool is_tag =
        c == '<' && page.size() > 1 && (is_name(page[1]) || page[1] == '/' || page[1] == '!');
    if (is_tag) {
      if (take_tag(page) && !line.empty() && line != " ") break;
    } else if (c == '&') {
      append_reference(line, page);
    } else {
      if (!is_space(c)) line.push_back(c);
      if (is_space(c) && !line.empty() && line.back() != ' ') line.push_back(' ');
      page.remove_prefix(1);
    }
  }
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(' ') - begin + 1);
}

}  // namespace bridge
