#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace bench {

/// The value of a header, found without regard to case; empty if absent.
inline std::string_view header_value(std::string_view head, std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (std::size_t line = head.find("\r\n"); line != head.npos;
       line = head.find("\r\n", line + 2)) {
    const std::string_view rest = head.substr(line + 2);
    if (rest.size() <= name.size() || rest[name.size()] != ':') continue;
    bool same = true;
    for (std::size_t i = 0; same && i < name.size(); ++i) same = lower(rest[i]) == lower(name[i]);
    if (!same) continue;
    std::string_view value = rest.substr(name.size() + 1, rest.find("\r\n") - name.size() - 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return value;
  }
  return {};
}

/// The positions in a message with a Content-Length (or none: an empty body).
struct HttpExtent {
  std::size_t head = 0;
  std::size_t body = 0;
  bool is_chunked = false;  ///< ends with its last chunk, which occurs in no message
};

/// nullopt while the head is incomplete.
inline std::optional<HttpExtent> http_extent(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == bytes.npos) return {};
  HttpExtent extent{end + 4, 0};
  const std::string_view length = header_value(bytes.substr(0, end + 2), "Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), extent.body);
  extent.is_chunked = header_value(bytes.substr(0, end + 2), "Transfer-Encoding") == "chunked";
  return extent;
}

}  // namespace bench
