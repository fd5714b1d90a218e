#include "login/authorization_request.hpp"

#include "auth/scope.hpp"
#include "http/form.hpp"

namespace bridge {

std::string AuthorizationRequest::url() const {
  std::string query;
  append_field(query, "response_type", "code");
  append_field(query, "client_id", client_id);
  append_field(query, "redirect_uri", redirect_uri);
  append_field(query, "scope", scope);
  append_field(query, "state", state);
  append_field(query, "code_challenge", code_challenge);
  append_field(query, "code_challenge_method", "S256");
  append_field(query, "resource", resource);
  // OpenID Connect: offline_access is granted only where consent is asked for.
  if (has_scope(scope, "offline_access")) append_field(query, "prompt", "consent");
  return endpoint + (endpoint.find('?') == endpoint.npos ? "?" : "&") + query;
}

}  // namespace bridge
