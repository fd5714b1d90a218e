#include "auth/token_request.hpp"

#include "http/form.hpp"

namespace bridge {

std::string TokenRequest::body() const {
  std::string form;
  append_field(form, "grant_type", "client_credentials");
  append_field(form, "resource", resource);
  append_field(form, "scope", scope);
  if (how == ClientAuthentication::secret_basic) return form;
  append_field(form, "client_id", client_id);
  if (how == ClientAuthentication::secret_post) {
    append_field(form, "client_secret", secret);
  } else {
    append_field(form, "client_assertion_type",
                 "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    append_field(form, "client_assertion", secret);
  }
  return form;
}

std::string TokenRequest::authorization() const {
  return how == ClientAuthentication::secret_basic ? basic_credentials(client_id, secret)
                                                   : std::string();
}

}  // namespace bridge
