#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

namespace bridge {

struct TokenGrant {
  std::string token;
  std::optional<std::chrono::seconds> expires_in;  ///< at most a year
};

/// Why there is none, in the server's words: neither bounded nor printable yet, and it may show
/// what was sent to it.
struct TokenRefusal {
  std::string reason;
};

/// The token endpoint's answer: RFC 6749, sections 5.1 and 5.2. Pure.
std::variant<TokenGrant, TokenRefusal> read_token_response(int status, const std::string& body);

}  // namespace bridge
