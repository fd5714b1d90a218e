#include "audit/arguments_digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <span>

#include "json/canonical_json.hpp"
#include "text/characters.hpp"

namespace bridge {

std::string arguments_digest(std::string_view arguments) {
  const std::string text = canonical_json(arguments);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return hex_of(std::span(hash).first(size));
}

}  // namespace bridge
