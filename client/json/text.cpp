#include "json/text.hpp"

#include <fmt/format.h>

#include "json/scan.hpp"

namespace client::json {
namespace {

std::uint32_t hex4(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits.substr(0, 4)) {
    value <<= 4;
    if (c >= '0' && c <= '9') {
      value += static_cast<std::uint32_t>(c - '0');
    } else {
      value += static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
    }
  }
  return value;
}

char simple_escape(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

std::string quote(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size() + 2);
  out.push_back('"');
  for (const char c : utf8) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out.push_back(c);
        }
    }
  }
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

void append_code_point(std::string& out, std::uint32_t code_point) {
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = 0xFFFD;
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | (code_point >> 6));
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | (code_point >> 12));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | (code_point >> 18));
    byte(0x80 | ((code_point >> 12) & 0x3F));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

std::string decode_string(std::string_view quoted) {
  std::string out;
  if (quoted.size() < 2) return out;
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out.push_back(text[at]);
      continue;
    }
    const char kind = text[++at];
    if (kind != 'u') {
      out.push_back(simple_escape(kind));
      continue;
    }
    std::uint32_t unit = hex4(text.substr(at + 1));
    at += 4;
    if (is_high_surrogate(unit) && text.substr(at + 1, 2) == "\\u") {
      const std::uint32_t low = hex4(text.substr(at + 3));
      if (is_low_surrogate(low)) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
      }
    }
    append_code_point(out, unit);
  }
  return out;
}

}  // namespace client::json
