#include "login/token_form.hpp"

#include "http/form.hpp"

namespace bridge {
namespace {

TokenForm authenticated(TokenForm form, const OAuthClient& client) {
  if (client.place == SecretPlace::basic) {
    form.authorization = basic_credentials(client.id, client.secret);
    return form;
  }
  append_field(form.body, "client_id", client.id);
  if (client.place == SecretPlace::body) append_field(form.body, "client_secret", client.secret);
  return form;
}

}  // namespace

TokenForm code_form(const OAuthClient& client, const std::string& code, const std::string& verifier,
                    const std::string& redirect_uri, const std::string& resource) {
  TokenForm form;
  append_field(form.body, "grant_type", "authorization_code");
  append_field(form.body, "code", code);
  append_field(form.body, "code_verifier", verifier);
  append_field(form.body, "redirect_uri", redirect_uri);
  append_field(form.body, "resource", resource);
  return authenticated(std::move(form), client);
}

TokenForm refresh_form(const OAuthClient& client, const std::string& refresh_token,
                       const std::string& resource) {
  TokenForm form;
  append_field(form.body, "grant_type", "refresh_token");
  append_field(form.body, "refresh_token", refresh_token);
  append_field(form.body, "resource", resource);
  return authenticated(std::move(form), client);
}

TokenForm device_authorization_form(const OAuthClient& client, const std::string& scope,
                                    const std::string& resource) {
  TokenForm form;
  append_field(form.body, "scope", scope);
  append_field(form.body, "resource", resource);
  return authenticated(std::move(form), client);
}

TokenForm device_token_form(const OAuthClient& client, const std::string& device_code,
                            const std::string& resource) {
  TokenForm form;
  append_field(form.body, "grant_type", "urn:ietf:params:oauth:grant-type:device_code");
  append_field(form.body, "device_code", device_code);
  append_field(form.body, "resource", resource);
  return authenticated(std::move(form), client);
}

TokenForm revocation_form(const OAuthClient& client, const std::string& token,
                          const std::string& kind) {
  TokenForm form;
  append_field(form.body, "token", token);
  append_field(form.body, "token_type_hint", kind);
  return authenticated(std::move(form), client);
}

}  // namespace bridge
