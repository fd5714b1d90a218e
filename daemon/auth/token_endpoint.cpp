#include "auth/token_endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "auth/discovery.hpp"
#include "base/secret_file.hpp"
#include "http/client/curl_loop.hpp"
#include "http/client/web_url.hpp"
#include "http/request.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// The fields, with the client's authentication.
TokenForm form_of(const OAuthClient& client, const Fields& fields) {
  TokenForm form;
  for (const auto& [name, value] : fields) append_field(form.body, name, value);
  if (client.place == SecretPlace::basic) {
    form.authorization = basic_credentials(client.id, client.secret);
    return form;
  }
  append_field(form.body, "client_id", client.id);
  if (client.place == SecretPlace::body) append_field(form.body, "client_secret", client.secret);
  if (client.place != SecretPlace::assertion) return form;
  append_field(form.body, "client_assertion_type",
               "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  append_field(form.body, "client_assertion", client.secret);
  return form;
}

}  // namespace

TokenForm credentials_form(const OAuthClient& client, const std::string& resource,
                           const std::string& scope) {
  return form_of(client,
                 {{"grant_type", "client_credentials"}, {"resource", resource}, {"scope", scope}});
}

TokenForm assertion_form(const OAuthClient& client, const std::string& assertion,
                         const std::string& resource, const std::string& scope) {
  return form_of(client, {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                          {"assertion", assertion},
                          {"resource", resource},
                          {"scope", scope}});
}

TokenForm code_form(const OAuthClient& client, const std::string& code, const std::string& verifier,
                    const std::string& redirect_uri, const std::string& resource) {
  return form_of(client, {{"grant_type", "authorization_code"},
                          {"code", code},
                          {"code_verifier", verifier},
                          {"redirect_uri", redirect_uri},
                          {"resource", resource}});
}

TokenForm refresh_form(const OAuthClient& client, const std::string& refresh_token,
                       const std::string& resource) {
  return form_of(
      client,
      {{"grant_type", "refresh_token"}, {"refresh_token", refresh_token}, {"resource", resource}});
}

TokenForm device_authorization_form(const OAuthClient& client, const std::string& scope,
                                    const std::string& resource) {
  return form_of(client, {{"scope", scope}, {"resource", resource}});
}

TokenForm device_token_form(const OAuthClient& client, const std::string& device_code,
                            const std::string& resource) {
  return form_of(client, {{"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                          {"device_code", device_code},
                          {"resource", resource}});
}

TokenForm revocation_form(const OAuthClient& client, const std::string& token,
                          const std::string& kind) {
  return form_of(client, {{"token", token}, {"token_type_hint", kind}});
}

namespace {

constexpr std::uint64_t longest_life = 365ull * 24 * 3600;

/// A number; some servers send it as a string, or with a fraction.
std::optional<std::chrono::seconds> seconds_of(const std::string& body) {
  auto raw = find_member(body, "expires_in");
  if (!raw) return std::nullopt;
  if (is_string(*raw)) raw = raw->substr(1, raw->size() - 2);
  const auto seconds = to_unsigned(raw->substr(0, raw->find('.')));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, longest_life));
}

}  // namespace

TokenRefusal read_refusal(int status, const std::string& body) {
  if (!is_json_object(body)) return {fmt::format("HTTP {}", status)};
  const std::string error = string_member(body, "error");
  const std::string description = string_member(body, "error_description");
  return {fmt::format("HTTP {}{}{}{}{}", status, error.empty() ? "" : ": ", error,
                      description.empty() ? "" : ": ", description),
          error};
}

std::variant<TokenGrant, TokenRefusal> read_token_response(int status, const std::string& body) {
  if (status != 200) return read_refusal(status, body);
  if (!is_json_object(body)) return TokenRefusal{"the response is not a JSON object"};
  if (find_member(body, "error")) return read_refusal(status, body);
  TokenGrant grant{string_member(body, "access_token"), seconds_of(body),
                   string_member(body, "refresh_token"), string_member(body, "scope")};
  if (grant.token.empty()) return TokenRefusal{"the response has no access_token"};
  if (!is_token(grant.token)) {
    return TokenRefusal{"the access_token is not valid in a header"};
  }
  if (!grant.refresh_token.empty() && !is_token(grant.refresh_token)) grant.refresh_token.clear();
  if (!fits_header(grant.scope, header_limit::scope, Blanks::inside)) grant.scope.clear();
  if (ascii_lower(find_string(body, "token_type").value_or("bearer")) != "bearer") {
    return TokenRefusal{"the token_type is not Bearer"};
  }
  return grant;
}

void HttpTokenEndpoint::post(const std::string& url, bool public_only, const TokenForm& form,
                             Done done) {
  HttpOptions options = upstream_;
  options.public_only = public_only && !upstream_.may_be_private;
  request_ = std::make_unique<SmallRequest>(
      curl_, options, url, &form.body, form.authorization,
      [this, done = std::move(done)](const SmallAnswer& answer) {
        const std::unique_ptr<SmallRequest> over = std::move(request_);
        done(answer);
      });
}

std::vector<std::string> secrets_of(const TokenForm& form) {
  std::vector<std::string> secrets;
  if (!form.authorization.empty())
    secrets.push_back(form.authorization.substr(form.authorization.find(' ') + 1));
  RequestHead fields;
  fields.query = form.body;
  for (const std::string_view name : {"code", "code_verifier", "refresh_token", "client_secret",
                                      "client_assertion", "assertion", "device_code", "token"}) {
    if (const auto value = fields.parameter(name); value && !value->empty())
      secrets.push_back(*value);
  }
  return secrets;
}

}  // namespace bridge
