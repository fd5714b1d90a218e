#include "login/pkce.hpp"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>

#include "text/base64.hpp"

namespace bridge {

std::optional<std::string> unguessable_text() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return std::nullopt;
  return base64url(std::string(bytes.begin(), bytes.end()));
}

std::string code_challenge(std::string_view verifier) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), digest.data());
  return base64url(std::string(digest.begin(), digest.end()));
}

}  // namespace bridge
