#include "audit/arguments_digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "json/canonical_json.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// Two digits for each byte.
constexpr std::array<char, 512> pairs = [] {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<char, 512> all{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    all[2 * byte] = digits[byte >> 4];
    all[2 * byte + 1] = digits[byte & 15];
  }
  return all;
}();

}  // namespace

ArgumentsDigest::ArgumentsDigest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

std::string ArgumentsDigest::of(std::string_view arguments) {
  constexpr std::size_t most_kept = 64u << 10;
  text_.clear();
  append_canonical_json(text_, arguments);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  EVP_DigestInit_ex(context_.get(), nullptr, nullptr);  // the same again
  EVP_DigestUpdate(context_.get(), text_.data(), text_.size());
  EVP_DigestFinal_ex(context_.get(), hash.data(), &size);
  if (text_.capacity() > most_kept) text_ = {};
  std::array<char, std::size_t{EVP_MAX_MD_SIZE} * 2> hex;
  char* next = hex.data();
  for (std::size_t at = 0; at < size; ++at) {
    std::memcpy(next, &pairs[std::size_t{hash[at]} * 2], 2);
    next += 2;
  }
  return std::string(hex.data(), std::size_t{size} * 2);
}

}  // namespace bridge
