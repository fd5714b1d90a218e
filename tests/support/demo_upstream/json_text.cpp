#include "json_text.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace demo::json {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::size_t skip_space(std::string_view text, std::size_t at) {
  const auto found = text.find_first_not_of(kSpace, at);
  return found == std::string_view::npos ? text.size() : found;
}

/// One past the string that begins at `at`; npos if it does not end.
std::size_t string_end(std::string_view text, std::size_t at) {
  ++at;
  while (true) {
    // One character at a time is found fast, of two each is compared.
    const std::size_t quote = text.find('"', at);
    if (quote == text.npos) return text.npos;
    const std::size_t escape = text.substr(0, quote).find('\\', at);
    if (escape == text.npos) return quote + 1;
    at = escape + 2;
  }
}

/// One past the value that begins at `at`; npos if there is none.
std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (at == std::string_view::npos) return at;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return std::string_view::npos;
      --depth;
      ++at;
    } else {  // a scalar, or a separator between two values
      const auto end = std::min(text.find_first_of("{}[],:\" \t\r\n", at), text.size());
      if (end == at && depth == 0) return std::string_view::npos;
      at = end == at ? at + 1 : end;
    }
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

/// Walks an object; `visit` returns false to stop.
template <typename Visit>
void walk(std::string_view object, Visit visit) {
  if (object.empty() || object.front() != '{') return;
  std::size_t at = skip_space(object, 1);
  while (at < object.size() && object[at] == '"') {
    const auto key_end = string_end(object, at);
    if (key_end == std::string_view::npos) return;
    const auto key = object.substr(at + 1, key_end - at - 2);
    at = skip_space(object, key_end);
    if (at >= object.size() || object[at] != ':') return;
    at = skip_space(object, at + 1);
    const auto end = value_end(object, at);
    if (end == std::string_view::npos) return;
    if (!visit(key, object.substr(at, end - at))) return;
    at = skip_space(object, end);
    if (at >= object.size() || object[at] != ',') return;
    at = skip_space(object, at + 1);
  }
}

/// The length of the UTF-8 sequence at the front of `text`; 0 if invalid.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || length > text.size()) return 0;
  return simdjson::validate_utf8(text.data(), length) ? length : 0;
}

}  // namespace

std::string_view whole(std::string_view text) {
  const auto begin = skip_space(text, 0);
  if (begin == text.size()) return {};
  const auto end = value_end(text, begin);
  if (end == std::string_view::npos || skip_space(text, end) != text.size()) return {};
  return text.substr(begin, end - begin);
}

std::string_view member(std::string_view object, std::string_view key) {
  std::string_view found;
  walk(object, [&](std::string_view name, std::string_view value) {
    if (name != key) return true;
    found = value;
    return false;
  });
  return found;
}

std::string_view path(std::string_view object, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) object = member(object, key);
  return object;
}

void each_member(std::string_view object,
                 const std::function<void(std::string_view, std::string_view)>& visit) {
  walk(object, [&](std::string_view name, std::string_view value) {
    visit(name, value);
    return true;
  });
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> found;
  if (array.empty() || array.front() != '[') return found;
  std::size_t at = skip_space(array, 1);
  while (at < array.size() && array[at] != ']') {
    const auto end = value_end(array, at);
    if (end == std::string_view::npos) break;
    found.push_back(array.substr(at, end - at));
    at = skip_space(array, end);
    if (at < array.size() && array[at] == ',') at = skip_space(array, at + 1);
  }
  return found;
}

std::string_view inside(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return {};
  return value.substr(1, value.size() - 2);
}

std::string text(std::string_view value) {
  if (value.empty() || value.front() != '"') return std::string(value);
  simdjson::dom::parser parser;
  std::string_view plain;
  if (parser.parse(value.data(), value.size()).get(plain) != simdjson::SUCCESS) {
    return std::string(inside(value));
  }
  return std::string(plain);
}

std::int64_t integer(std::string_view value, std::int64_t fallback) {
  std::int64_t parsed = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), parsed);
  return result.ec == std::errc{} ? parsed : fallback;
}

std::optional<double> number(std::string_view value) {
  double parsed = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (result.ec != std::errc{} || result.ptr != value.data() + value.size()) return std::nullopt;
  return parsed;
}

bool is_true(std::string_view value) { return value == "true"; }

std::string quoted(std::string_view plain) {
  std::string out;
  out.reserve(plain.size() + 2);
  out += '"';
  while (!plain.empty()) {
    const char c = plain.front();
    const auto length = utf8_length(plain);
    if (length == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += plain.substr(0, length);
    }
    plain.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
  return out;
}

std::string substituted(std::string text, std::string_view name, std::string_view value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), value);
    at += value.size();
  }
  return text;
}

}  // namespace demo::json
