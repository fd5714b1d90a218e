#include "base/base64.hpp"

#include <cstdint>

namespace bridge {
namespace {

std::string base64_with(std::string_view bytes, const char* alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
    }
    for (std::size_t i = 0; i <= group.size(); ++i) out += alphabet[bits >> (18 - 6 * i) & 63u];
    if (padded) out.append(3 - group.size(), '=');
  }
  return out;
}

}  // namespace

std::string base64(std::string_view bytes) {
  return base64_with(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                     true);
}

std::string base64url(std::string_view bytes) {
  return base64_with(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                     false);
}

}  // namespace bridge
