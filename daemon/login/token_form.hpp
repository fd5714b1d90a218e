#pragma once

#include <string>

#include "login/oauth_client.hpp"

namespace bridge {

/// A request to an endpoint that knows the client: the form, and the Authorization value (empty:
/// none). Both are secret.
struct TokenForm {
  std::string body;
  std::string authorization;
};

// All pure. Empty values are left out; `resource` is RFC 8707's.

/// RFC 6749, section 4.1.3.
TokenForm code_form(const OAuthClient& client, const std::string& code, const std::string& verifier,
                    const std::string& redirect_uri, const std::string& resource);
/// RFC 6749, section 6.
TokenForm refresh_form(const OAuthClient& client, const std::string& refresh_token,
                       const std::string& resource);
/// RFC 8628, section 3.1.
TokenForm device_authorization_form(const OAuthClient& client, const std::string& scope,
                                    const std::string& resource);
/// RFC 8628, section 3.4.
TokenForm device_token_form(const OAuthClient& client, const std::string& device_code,
                            const std::string& resource);
/// RFC 7009, section 2.1.
TokenForm revocation_form(const OAuthClient& client, const std::string& token,
                          const std::string& kind);

}  // namespace bridge
