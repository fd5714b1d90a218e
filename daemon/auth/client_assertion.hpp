#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"

struct evp_pkey_st;

namespace bridge {

/// A private key for JWS signatures (RFC 7518): P-256 for ES256, RSA of at least 2048 bits for
/// RS256.
class SigningKey {
 public:
  /// From an unencrypted PEM text; nobody is asked for a passphrase. Else why not.
  static std::variant<SigningKey, std::string> from_pem(std::string_view pem);

  std::string_view algorithm() const { return is_rsa_ ? "RS256" : "ES256"; }

  /// In JWS's form: for ES256 R and S in 32 bytes each. Nothing if OpenSSL fails.
  std::optional<std::string> sign(std::string_view text) const;

 private:
  struct Cleanup {
    void operator()(evp_pkey_st* key) const;
  };
  using Key = std::unique_ptr<evp_pkey_st, Cleanup>;

  SigningKey(Key key, bool is_rsa) : key_(std::move(key)), is_rsa_(is_rsa) {}

  Key key_;
  bool is_rsa_;
};

}  // namespace bridge

namespace bridge {

/// The claims of private_key_jwt (RFC 7523, section 3).
struct AssertionClaims {
  std::string client_id;  ///< iss and sub
  std::string audience;   ///< the issuer; its token endpoint if that is not known
  std::string id;         ///< jti, never used twice
  WallTime now;
};

/// A signed JWT (RFC 7519) that is good for 60 s; nothing if it cannot be signed.
std::optional<std::string> client_assertion(const SigningKey& key, const AssertionClaims& claims);

/// 128 random bits as text; nothing if there are none to be had.
std::optional<std::string> random_id();

}  // namespace bridge
