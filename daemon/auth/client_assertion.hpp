#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "auth/signing_key.hpp"
#include "base/clock.hpp"

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
