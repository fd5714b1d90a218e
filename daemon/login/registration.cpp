#include "login/registration.hpp"

#include <fmt/format.h>

#include "text/header_text.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_credential = 4096;

/// The method that the server is asked for: none, since a native application keeps no secret, if
/// the server does not name others only.
std::string_view wanted_method(const ServerMetadata& server) {
  const auto& methods = server.token_endpoint_auth_methods;
  if (methods.empty() || is_named(methods, "none")) return "none";
  return secret_place(server) == SecretPlace::body ? "client_secret_post" : "client_secret_basic";
}

}  // namespace

SecretPlace secret_place(const ServerMetadata& server) {
  return wants_secret_in_body(server) ? SecretPlace::body : SecretPlace::basic;
}

std::string registration_request(const ServerMetadata& server, const std::string& redirect_uri,
                                 const std::string& scope) {
  std::string grants = R"("authorization_code","refresh_token")";
  if (!server.device_authorization_endpoint.empty())
    grants += R"(,"urn:ietf:params:oauth:grant-type:device_code")";
  return fmt::format(
      R"({{"client_name":"mcp-session-bridge","application_type":"native","redirect_uris":[{}],)"
      R"("grant_types":[{}],"response_types":["code"],"token_endpoint_auth_method":"{}"{}}})",
      quote(redirect_uri), grants, wanted_method(server),
      scope.empty() ? std::string() : ",\"scope\":" + quote(scope));
}

std::variant<OAuthClient, std::string> read_registration(int status, const std::string& body,
                                                         const std::string& redirect_uri) {
  const bool is_object = is_json_object(body);
  if ((status != 200 && status != 201) || !is_object) {
    const std::string error =
        is_object ? find_string(body, "error").value_or(std::string()) : std::string();
    const std::string description =
        is_object ? find_string(body, "error_description").value_or(std::string()) : std::string();
    return fmt::format("HTTP {}{}{}{}{}", status, error.empty() ? "" : ": ", error,
                       description.empty() ? "" : ": ", description);
  }
  OAuthClient identity;
  identity.id = find_string(body, "client_id").value_or(std::string());
  identity.secret = find_string(body, "client_secret").value_or(std::string());
  if (!fits_header(identity.id, longest_credential, Blanks::inside))
    return std::string("there is no client_id in the answer that could be sent");
  if (!identity.secret.empty()) {
    if (!fits_header(identity.secret, longest_credential, Blanks::inside))
      return std::string("there is a client_secret in the answer that cannot be sent");
    const auto method = find_string(body, "token_endpoint_auth_method");
    identity.place = method == "client_secret_post" ? SecretPlace::body
                     : method == "none"             ? SecretPlace::none
                                                    : SecretPlace::basic;
    if (identity.place == SecretPlace::none) identity.secret.clear();
  }
  identity.redirect_uri = redirect_uri;
  identity.is_registered = true;
  return identity;
}

}  // namespace bridge
