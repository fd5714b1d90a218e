#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// How a client shows who it is where it asks for tokens (RFC 6749, section 2.3).
enum class SecretPlace : std::uint8_t { none, basic, body };

/// Who the bridge is for one authorization server. A value; the secret is one.
struct OAuthClient {
  std::string id;
  std::string secret;
  SecretPlace place = SecretPlace::none;
  std::string redirect_uri;    ///< as it was registered; empty: not known yet
  bool is_registered = false;  ///< by the bridge itself (RFC 7591)
};

}  // namespace bridge
