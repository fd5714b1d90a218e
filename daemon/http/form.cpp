#include "http/form.hpp"

#include "text/base64.hpp"

namespace bridge {
namespace {

bool stands_for_itself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string form_encoded(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (stands_for_itself(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

void append_field(std::string& form, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!form.empty()) form += '&';
  form += form_encoded(name);
  form += '=';
  form += form_encoded(value);
}

std::string basic_credentials(std::string_view client_id, std::string_view secret) {
  return "Basic " + base64(form_encoded(client_id) + ":" + form_encoded(secret));
}

}  // namespace bridge
