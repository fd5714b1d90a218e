#include "json/json_text.hpp"

#include <algorithm>
#include <charconv>

#include "json/json_scanner.hpp"
#include "json/received_text.hpp"
#include "text/characters.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The four hexadecimal digits at `at`; nullopt if they are not there.
std::optional<std::uint32_t> hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return std::nullopt;
  std::uint32_t code = 0;
  const char* const begin = raw.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
  if (error != std::errc() || end != begin + 4) return std::nullopt;
  return code;
}

/// Appends the character of the \u escape whose digits start at `at`; returns where it ends.
std::size_t append_unicode_escape(std::string& out, std::string_view raw, std::size_t at) {
  const auto code = hex4(raw, at);
  if (!code) return raw.size();
  at += 4;
  if (*code < 0xD800 || *code > 0xDFFF) {
    append_utf8(out, *code);
    return at;
  }
  if (*code < 0xDC00 && raw.substr(at, 2) == "\\u") {
    const auto low = hex4(raw, at + 2);
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
      return at + 6;
    }
  }
  out += replacement;
  return at;
}

/// The size of the UTF-8 character at the front; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return length <= text.size() && is_utf8(text.substr(0, length)) ? length : 0;
}

}  // namespace

std::string unescape(std::string_view raw) {
  std::size_t escape = raw.find('\\');
  if (escape == raw.npos) return std::string(raw);
  std::string out;
  out.reserve(raw.size());
  std::size_t at = 0;
  while (escape != raw.npos && escape + 1 < raw.size()) {
    out.append(raw, at, escape - at);
    at = escape + 2;
    switch (const char escaped = raw[escape + 1]) {
      case 'b': out.push_back('\b'); break;
      case 'f': out.push_back('\f'); break;
      case 'n': out.push_back('\n'); break;
      case 'r': out.push_back('\r'); break;
      case 't': out.push_back('\t'); break;
      case 'u': at = append_unicode_escape(out, raw, at); break;
      default: out.push_back(escaped); break;
    }
    escape = raw.find('\\', at);
  }
  return out.append(raw, at, raw.npos);
}

std::string decode_string(std::string_view quoted) {
  return quoted.size() < 2 ? std::string() : unescape(quoted.substr(1, quoted.size() - 2));
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  std::optional<bool> is_valid;  // checked at the first byte that is not ASCII
  std::size_t plain = 0;         // start of the text that needs no escape
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    if (byte < 0x80 && !is_control && c != '"' && c != '\\') continue;
    if (byte >= 0x80) {
      if (!is_valid) is_valid = is_utf8(text);
      if (*is_valid) continue;
      if (const std::size_t length = character_length(text.substr(at)); length > 0) {
        at += length - 1;
        continue;
      }
    }
    out.append(text, plain, at - plain);
    plain = at + 1;
    if (byte >= 0x80) {
      out += replacement;
    } else if (!is_control || c == '\n' || c == '\r' || c == '\t') {
      out.push_back('\\');
      out.push_back(c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c);
    } else {
      append_hex(out += "\\u00", byte);
    }
  }
  out.append(text, plain);
  out.push_back('"');
  return out;
}

std::optional<std::string_view> find_member(std::string_view object, std::string_view name) {
  JsonScanner scanner(object);
  scanner.skip_space();
  if (scanner.peek() != '{') return std::nullopt;
  std::optional<std::string_view> found;
  scanner.object([&](Slice key) {
    Slice value;
    if (!scanner.value(value)) return false;
    if (!key_is(key.of(object), name)) return true;
    found = value.of(object);
    return false;
  });
  return found;
}

bool is_json(std::string_view text, std::size_t depth) {
  JsonScanner scanner(text, depth);
  Slice value;
  scanner.skip_space();
  if (!scanner.value(value)) return false;
  scanner.skip_space();
  return scanner.at_end();
}

std::optional<std::string> to_text(std::string_view raw_value) {
  if (!is_string(raw_value)) return std::nullopt;
  return decode_string(raw_value);
}

std::optional<std::string> find_string(std::string_view object, std::string_view name) {
  const auto raw = find_member(object, name);
  return raw ? to_text(*raw) : std::nullopt;
}

std::string string_member(std::string_view object, std::string_view name) {
  return find_string(object, name).value_or("");
}

std::optional<std::uint64_t> to_unsigned(std::string_view raw_value) {
  std::uint64_t number = 0;
  const char* const end = raw_value.data() + raw_value.size();
  const auto [last, error] = std::from_chars(raw_value.data(), end, number);
  if (error != std::errc() || last != end) return std::nullopt;
  return number;
}

namespace {

/// The value of a JSON number without sign, if it is an integer that fits.
std::optional<std::uint64_t> integer_of(std::string_view number) {
  constexpr std::size_t longest = 20;  // digits of 2^64
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), mark);
  std::string digits(number.substr(0, point));
  if (point < mark) digits += number.substr(point + 1, mark - point - 1);
  const auto fraction = static_cast<std::int64_t>(digits.size() - point);
  const std::size_t first = digits.find_first_not_of('0');
  if (first == digits.npos) return 0;
  const std::size_t behind = digits.find_last_not_of('0') + 1;
  std::int64_t exponent = 0;
  if (mark < number.size()) {
    std::string_view said = number.substr(mark + 1);
    if (said.front() == '+') said.remove_prefix(1);
    if (std::from_chars(said.data(), said.data() + said.size(), exponent).ec != std::errc())
      return std::nullopt;
  }
  // As many zeros follow the digits that matter.
  const auto last_zeros = static_cast<std::int64_t>(digits.size() - behind);
  if (exponent < fraction - last_zeros) return std::nullopt;
  const std::size_t size = behind - first;
  if (size > longest ||
      exponent > fraction - last_zeros + static_cast<std::int64_t>(longest - size))
    return std::nullopt;
  digits = digits.substr(first, size);
  digits.append(static_cast<std::size_t>(exponent - fraction + last_zeros), '0');
  return to_unsigned(digits);
}

}  // namespace

std::optional<std::uint64_t> unsigned_by_value(std::string_view raw_value) {
  if (const auto plain = to_unsigned(raw_value)) return plain;
  const auto said = to_text(raw_value);
  const std::string_view number = said ? std::string_view(*said) : raw_value;
  if (number.empty() || !is_digit(number.front()) || !is_digit(number.back())) return std::nullopt;
  return is_json(number) ? integer_of(number) : std::nullopt;
}

bool same_id(std::string_view left, std::string_view right) {
  if (left == right) return true;
  if (is_canonical_id(left) && is_canonical_id(right)) return false;
  return canonical_id(left) == canonical_id(right);
}

bool is_canonical_id(std::string_view raw_id) {
  if (is_string(raw_id)) return raw_id.find('\\') == raw_id.npos;
  return raw_id.find_first_of(".eE") == raw_id.npos && raw_id != "-0";
}

std::string canonical_id(std::string_view raw_id) {
  if (is_canonical_id(raw_id)) return std::string(raw_id);
  if (is_string(raw_id)) return '"' + decode_string(raw_id) + '"';
  const bool is_negative = raw_id.front() == '-';
  const std::string_view number = raw_id.substr(is_negative ? 1 : 0);
  const bool is_number = !number.empty() && is_digit(number.front()) && is_json(number);
  const auto integer = is_number ? integer_of(number) : std::nullopt;
  if (!integer) return std::string(raw_id);
  return (is_negative && *integer != 0 ? "-" : "") + std::to_string(*integer);
}

void make_single_line(std::string& message) {
  if (message.find('\n') != message.npos) std::replace(message.begin(), message.end(), '\n', ' ');
  if (message.find('\r') != message.npos) std::replace(message.begin(), message.end(), '\r', ' ');
}

void make_single_line(ReceivedText& message) {
  if (!message.checked || message.checked->has_line_breaks) make_single_line(message.bytes);
}

}  // namespace bridge
