#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

namespace bridge {

struct TokenGrant {
  std::string token;
  std::optional<std::chrono::seconds> expires_in;  ///< at most a year
  std::string refresh_token{};                     ///< empty: none
  std::string scope{};                             ///< empty: as it was asked for
};

/// Why there is none, in the server's words: neither bounded nor printable yet, and it may show
/// what was sent to it.
struct TokenRefusal {
  std::string reason;
  std::string error{};  ///< RFC 6749, section 5.2; empty: none
};

/// The token endpoint's answer: RFC 6749, sections 5.1 and 5.2. Pure.
std::variant<TokenGrant, TokenRefusal> read_token_response(int status, const std::string& body);

}  // namespace bridge
