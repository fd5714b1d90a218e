#include "grant/grant_key.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <bit>
#include <new>

#include "base/random.hpp"
#include "grant/grant.hpp"
#include "text/base64.hpp"

namespace bridge {
namespace {

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t byte = 0; byte < 8 && at + byte < bytes.size(); ++byte)
    word |= std::uint64_t{static_cast<unsigned char>(bytes[at + byte])} << (8 * byte);
  return word;
}

}  // namespace

GrantKey::GrantKey() : bytes_(random_bytes(size)) {}

std::string GrantKey::signature_of(std::string_view payload) const {
  std::string signature(size, '\0');
  unsigned length = 0;
  const auto* const made =
      HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()),
           reinterpret_cast<const unsigned char*>(payload.data()), payload.size(),
           reinterpret_cast<unsigned char*>(signature.data()), &length);
  // It fails only without memory.
  if (made == nullptr || length != size) throw std::bad_alloc();
  return signature;
}

std::string GrantKey::sign(std::string_view payload) const {
  return std::string(prefix) + base64url(std::string(payload) + signature_of(payload));
}

bool GrantKey::may_be_signed(std::string_view string) {
  constexpr std::size_t longest = prefix.size() + (Grant::longest_payload + size + 2) / 3 * 4;
  return string.starts_with(prefix) && string.size() <= longest;
}

std::optional<std::string> GrantKey::verify(std::string_view string) const {
  if (!may_be_signed(string)) return std::nullopt;
  string.remove_prefix(prefix.size());
  auto bytes = decode_base64(string);
  if (!bytes || bytes->size() <= size || base64url(*bytes) != string) return std::nullopt;
  const std::string signature = bytes->substr(bytes->size() - size);
  bytes->resize(bytes->size() - size);
  const std::string right = signature_of(*bytes);
  if (CRYPTO_memcmp(signature.data(), right.data(), size) != 0) return std::nullopt;
  return bytes;
}

SecretHash::SecretHash() : SecretHash(random_bytes(16)) {}

SecretHash::SecretHash(std::string_view key) : first_(word_at(key, 0)), second_(word_at(key, 8)) {}

// Aumasson and Bernstein, "SipHash: a fast short-input PRF", with 2 and 4 rounds.
std::uint64_t SecretHash::of(std::string_view text) const {
  std::uint64_t v0 = first_ ^ 0x736f6d6570736575;
  std::uint64_t v1 = second_ ^ 0x646f72616e646f6d;
  std::uint64_t v2 = first_ ^ 0x6c7967656e657261;
  std::uint64_t v3 = second_ ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };
  for (std::size_t at = 0; at <= text.size(); at += 8) {
    std::uint64_t word = word_at(text, at);
    if (at + 8 > text.size()) word |= std::uint64_t{text.size() & 0xff} << 56;
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace bridge
