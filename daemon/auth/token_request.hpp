#pragma once

#include <string>

namespace bridge {

enum class ClientAuthentication { secret_basic, secret_post, private_key_jwt };

/// A client credentials request (RFC 6749, section 4.4).
struct TokenRequest {
  ClientAuthentication how = ClientAuthentication::secret_basic;
  std::string client_id;
  std::string secret;    ///< or the signed assertion
  std::string resource;  ///< RFC 8707
  std::string scope;     ///< empty: not sent

  std::string body() const;
  /// The Authorization field's value; empty: none.
  std::string authorization() const;
};

}  // namespace bridge
