#pragma once

#include <string>

namespace bridge {

/// What the person's browser is sent to (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). A value.
struct AuthorizationRequest {
  std::string endpoint;  ///< may have a query of its own
  std::string client_id;
  std::string redirect_uri;
  std::string scope;  ///< empty: not sent
  std::string state;
  std::string code_challenge;
  std::string resource;

  std::string url() const;
};

}  // namespace bridge
