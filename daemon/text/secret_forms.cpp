#include "text/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "text/base64.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

constexpr std::string_view blot = "***";

/// One character of a JSON string (RFC 8259, section 7), as decoded bytes.
struct Spelled {
  std::string bytes;
  std::size_t length = 1;  ///< of its encoded form
};

std::optional<std::uint32_t> hexadecimal(std::string_view digits, std::size_t count) {
  std::uint32_t value = 0;
  if (digits.size() < count) return std::nullopt;
  const char* const end = digits.data() + count;
  const auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> code_unit(std::string_view text) {
  return text.starts_with("\\u") ? hexadecimal(text.substr(2), 4) : std::nullopt;
}

/// REQUIRES: `text` starts with a backslash.
Spelled read_escape(std::string_view text) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  const std::size_t letter = text.size() < 2 ? letters.npos : letters.find(text[1]);
  if (letter != letters.npos) return {std::string(1, meant[letter]), 2};
  const auto unit = code_unit(text);
  if (!unit) return {"\\", 1};
  Spelled spelled;
  spelled.length = 6;
  std::uint32_t code_point = *unit;
  const auto low = code_unit(text.substr(6));
  if (code_point >> 10 == 0xD800 >> 10 && low && *low >> 10 == 0xDC00 >> 10) {
    code_point = 0x10000 + ((code_point & 0x3FF) << 10) + (*low & 0x3FF);
    spelled.length = 12;
  }
  append_utf8(spelled.bytes, code_point);
  return spelled;
}

/// How many bytes at the front of `text` encode `form`, plainly or as part of a JSON string; 0 if
/// they do not.
std::size_t length_of(std::string_view form, std::string_view text) {
  if (text.starts_with(form)) return form.size();
  std::size_t length = 0;
  while (!form.empty()) {
    if (length == text.size()) return 0;
    if (text[length] != '\\') {
      if (text[length] != form.front()) return 0;
      form.remove_prefix(1);
      ++length;
      continue;
    }
    const Spelled spelled = read_escape(text.substr(length));
    if (!form.starts_with(spelled.bytes)) return 0;
    form.remove_prefix(spelled.bytes.size());
    length += spelled.length;
  }
  return length;
}

/// The characters in the Base64 of any text that depend on the secret alone, if the secret starts
/// `before` bytes after a multiple of three.
template <class Encode>
std::string base64_form(const std::string& secret, std::size_t before, Encode&& encode) {
  const std::string bytes = std::string(before, '\0') + secret;
  const std::string encoded = encode(bytes);
  const std::size_t begin = before == 0 ? 0 : before + 1;  // the first characters are mixed
  const std::size_t end = bytes.size() * 8 / 6;            // so is the last one, unless it fits
  return encoded.substr(begin, end - begin);
}

}  // namespace

SecretForms::SecretForms(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  for (const std::string& secret : secrets_) {
    if (secret.size() < shortest) continue;
    add(secret);
    for (const std::string_view digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
      add(percent_encoded(secret, {}, digits));
      std::string of_form = percent_encoded(secret, " ", digits);
      std::replace(of_form.begin(), of_form.end(), ' ', '+');
      add(std::move(of_form));
    }
    for (std::size_t before = 0; before < 3; ++before) {
      add(base64_form(secret, before, [](const std::string& bytes) { return base64(bytes); }));
      add(base64_form(secret, before, [](const std::string& bytes) { return base64url(bytes); }));
    }
  }
  std::sort(forms_.begin(), forms_.end(), [](const auto& left, const auto& right) {
    return left.size() != right.size() ? left.size() > right.size() : left < right;
  });
  forms_.erase(std::unique(forms_.begin(), forms_.end()), forms_.end());
}

void SecretForms::add(std::string form) { forms_.push_back(std::move(form)); }

namespace {

/// A character in one of the spellings that a JSON string or a URI allows.
struct Letter {
  char character = '\0';   ///< '\0': none of ASCII
  std::size_t length = 1;  ///< of its spelling
};

/// REQUIRES: `text` is not empty. A string inside of a string has more backslashes; all are passed
/// at once, so that each is looked at once.
Letter read_letter(std::string_view text) {
  std::optional<std::uint32_t> code;
  std::size_t length = 1;
  if (text.front() == '\\') {
    length = std::min(text.find_first_not_of('\\'), text.size());
    if (length == text.size() || text[length] != 'u') return {'\0', length};
    code = hexadecimal(text.substr(length + 1), 4);
    length += code ? 5 : 1;
  } else if (text.front() == '%') {
    code = hexadecimal(text.substr(1), 2);
    length += code ? 2 : 0;
  } else {
    return {text.front(), 1};
  }
  return {code && *code < 0x80 ? static_cast<char>(*code) : '\0', length};
}

}  // namespace

bool may_have_grants(std::string_view text) {
  return text.find("mcpg_") != text.npos || text.find("\\u00") != text.npos ||
         text.find('%') != text.npos;
}

std::string without_grants(std::string text) {
  constexpr std::string_view prefix = "mcpg_";
  constexpr std::size_t shortest = 8;
  if (!may_have_grants(text)) return text;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
  };
  const std::string_view all = text;
  std::string shown;
  std::size_t kept = 0;     // all before it was copied already
  std::size_t matched = 0;  // characters of the prefix
  for (std::size_t at = 0; at < all.size();) {
    const Letter letter = read_letter(all.substr(at));
    at += letter.length;
    // No part of the prefix but its first character is its beginning.
    matched = letter.character == prefix[matched] ? matched + 1 : letter.character == 'm' ? 1 : 0;
    if (matched < prefix.size()) continue;
    matched = 0;
    const std::size_t begin = at;
    std::size_t count = 0;
    for (; at < all.size(); ++count) {
      const Letter next = read_letter(all.substr(at));
      if (!is_letter(next.character)) break;
      at += next.length;
    }
    if (count < shortest) continue;
    shown.append(all, kept, begin - kept).append(blot);
    kept = at;
  }
  if (kept == 0) return text;
  return shown.append(all, kept);
}

std::string blotted(std::string text, const std::vector<std::string>& forms) {
  text = without_grants(std::move(text));
  if (forms.empty()) return text;
  std::array<bool, 256> may_begin{};
  may_begin['\\'] = true;
  for (const std::string& form : forms) may_begin[static_cast<unsigned char>(form.front())] = true;
  const std::string_view all = text;
  std::string shown;
  std::size_t kept = 0;  // all before it was copied already
  for (std::size_t at = 0; at < all.size();) {
    std::size_t length = 0;
    if (may_begin[static_cast<unsigned char>(all[at])]) {
      for (const std::string& form : forms) {
        length = length_of(form, all.substr(at));
        if (length > 0) break;
      }
    }
    if (length == 0) {
      ++at;
      continue;
    }
    shown.append(all, kept, at - kept).append(blot);
    at += length;
    kept = at;
  }
  if (kept == 0) return text;
  return shown.append(all, kept);
}

}  // namespace bridge
