#include "text/secret_forms.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/base64.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view blot = "***";

/// What stands between the quotes of a JSON string.
std::string json_form(const std::string& secret) {
  const std::string quoted = quote(secret);
  return quoted.substr(1, quoted.size() - 2);
}

std::string with_slashes_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '/') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// RFC 3986, "Percent-Encoding", all but the unreserved characters; a form has `+` for a space.
std::string percent_form(const std::string& secret, std::string_view digits, bool is_form) {
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : secret) {
    const auto byte = static_cast<unsigned char>(c);
    if (unreserved.find(c) != unreserved.npos) {
      encoded += c;
    } else if (is_form && c == ' ') {
      encoded += '+';
    } else {
      encoded += '%';
      encoded += digits[byte >> 4];
      encoded += digits[byte & 15];
    }
  }
  return encoded;
}

/// What stands in the Base64 of any text in which the secret is `before` bytes behind a multiple of
/// three: the characters that are of the secret alone.
template <class Encode>
std::string base64_form(const std::string& secret, std::size_t before, Encode&& encode) {
  const std::string bytes = std::string(before, '\0') + secret;
  const std::string encoded = encode(bytes);
  const std::size_t begin = before == 0 ? 0 : before + 1;  // the first characters are mixed
  const std::size_t end = bytes.size() * 8 / 6;            // the last one is, unless it fits
  return encoded.substr(begin, end - begin);
}

}  // namespace

SecretForms::SecretForms(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  for (const std::string& secret : secrets_) {
    if (secret.size() < shortest) continue;
    add(secret);
    add(json_form(secret));
    add(with_slashes_escaped(json_form(secret)));
    for (const std::string_view digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
      add(percent_form(secret, digits, false));
      add(percent_form(secret, digits, true));
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

std::string SecretForms::blotted(std::string text) const {
  for (const std::string& form : forms_) {
    for (auto at = text.find(form); at != text.npos; at = text.find(form, at + blot.size()))
      text.replace(at, form.size(), blot);
  }
  return text;
}

}  // namespace bridge
