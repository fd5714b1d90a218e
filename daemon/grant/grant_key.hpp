#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// The key that a daemon signs its grants with, and the form of their strings: `mcpg_` and
/// base64url (RFC 4648, section 5, no padding) of the payload and its HMAC-SHA-256. A value;
/// secret.
class GrantKey {
 public:
  static constexpr std::size_t size = 32;  ///< bytes
  static constexpr std::string_view prefix = "mcpg_";

  /// A random one.
  GrantKey();
  /// REQUIRES: of that size.
  explicit GrantKey(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  /// The string of a grant with this payload.
  std::string sign(std::string_view payload) const;
  /// Whether it begins as one, and is not too long.
  static bool may_be_signed(std::string_view string);
  /// The payload, if this key has signed it. Any bytes; there is no second spelling of a string.
  /// The signature is compared in constant time.
  std::optional<std::string> verify(std::string_view string) const;

 private:
  std::string signature_of(std::string_view payload) const;

  std::string bytes_;
};

/// SipHash-2-4 with a random key: without the key, no string with the same hash can be found. For
/// looking up strings that were verified before. A value.
class SecretHash {
 public:
  SecretHash();
  /// For a test. REQUIRES: 16 bytes.
  explicit SecretHash(std::string_view key);
  std::uint64_t of(std::string_view text) const;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
};

}  // namespace bridge
