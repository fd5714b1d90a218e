#include "audit/arguments_digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>

#include "json/canonical_json.hpp"

namespace bridge {

std::string arguments_digest(std::string_view arguments) {
  const std::string text = canonical_json(arguments);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  for (std::size_t at = 0; at < size; ++at) {
    hex += digits[hash[at] >> 4];
    hex += digits[hash[at] & 15];
  }
  return hex;
}

}  // namespace bridge
