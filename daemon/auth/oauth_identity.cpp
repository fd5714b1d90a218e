#include "auth/oauth_identity.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "base/contains.hpp"
#include "base/secret_file.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_credential = 4096;

/// The requested authentication method: none, since a native application keeps no secret, unless
/// the server supports others only.
std::string_view wanted_method(const ServerMetadata& server) {
  const auto& methods = server.token_endpoint_auth_methods;
  if (methods.empty() || contains(methods, "none")) return "none";
  return secret_place(server) == SecretPlace::body ? "client_secret_post" : "client_secret_basic";
}

}  // namespace

SecretPlace secret_place(const ServerMetadata& server) {
  return wants_secret_in_body(server) ? SecretPlace::body : SecretPlace::basic;
}

std::string registration_request(const ServerMetadata& server, const std::string& redirect_uri,
                                 const std::string& scope) {
  JsonArray grants;
  grants.add("authorization_code").add("refresh_token");
  if (!server.device_authorization_endpoint.empty())
    grants.add("urn:ietf:params:oauth:grant-type:device_code");
  return JsonObject()
      .add("client_name", "mcp-session-bridge")
      .add("application_type", "native")
      .add("redirect_uris", JsonArray().add(redirect_uri))
      .add("grant_types", grants)
      .add("response_types", JsonArray().add("code"))
      .add("token_endpoint_auth_method", wanted_method(server))
      .add_unless_empty("scope", scope)
      .text();
}

std::variant<OAuthClient, std::string> read_registration(int status, const std::string& body,
                                                         const std::string& redirect_uri) {
  if ((status != 200 && status != 201) || !is_json_object(body))
    return read_refusal(status, body).reason;
  OAuthClient identity;
  identity.id = string_member(body, "client_id");
  identity.secret = string_member(body, "client_secret");
  if (!fits_header(identity.id, longest_credential, Blanks::inside))
    return std::string("the response has no valid client_id");
  if (!identity.secret.empty()) {
    if (!fits_header(identity.secret, longest_credential, Blanks::inside))
      return std::string("the response has an invalid client_secret");
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

SecretFile read_client_secret(const OAuthOptions& options) {
  if (!options.client_secret_file.empty())
    return read_secret_file(options.client_secret_file, "--oauth-client-secret-file");
  SecretFile given;
  given.content = options.client_secret;
  return given;
}

void OAuthIdentity::find(const AuthorizationServer& server,
                         const std::optional<OAuthClient>& earlier, const std::string& redirect_uri,
                         const std::string& scope) {
  redirect_uri_ = redirect_uri;
  const OAuthOptions& options = parts_.options;
  if (!options.client_id.empty()) {
    take_configured(server.metadata);
  } else if (!options.client_metadata_url.empty() && server.metadata.takes_metadata_documents) {
    OAuthClient client;
    client.id = options.client_metadata_url;
    client.redirect_uri = redirect_uri;
    done_(client);
  } else if (earlier) {
    done_(*earlier);
  } else {
    request_registration(server, scope);
  }
}

void OAuthIdentity::take_configured(const ServerMetadata& metadata) {
  const OAuthOptions& options = parts_.options;
  OAuthClient client;
  client.id = options.client_id;
  client.redirect_uri = redirect_uri_;
  if (options.has_client_secret()) {
    const SecretFile file = read_client_secret(options);
    if (!file.fault.empty()) {
      done_(file.fault);
      return;
    }
    client.secret = file.content;
    client.place = secret_place(metadata);
  }
  done_(client);
}

std::string OAuthIdentity::how_to_name_the_client() const {
  return how_to_log_in_with("--oauth-client-id ID", "MCP_BRIDGE_OAUTH_CLIENT_ID=ID",
                            parts_.options.login_command);
}

void OAuthIdentity::request_registration(const AuthorizationServer& server,
                                         const std::string& scope) {
  endpoint_ = server.metadata.registration_endpoint;
  if (!endpoint_url(endpoint_)) {
    done_(fmt::format("{} does not register clients by itself: register one there, then {}",
                      shown_url(server.issuer), how_to_name_the_client()));
    return;
  }
  const std::string request = registration_request(server.metadata, redirect_uri_, scope);
  request_ = std::make_unique<SmallRequest>(
      parts_.curl, parts_.upstream, endpoint_, &request, std::string(),
      [this](const SmallAnswer& answer) { answered(answer); }, "application/json");
}

void OAuthIdentity::answered(const SmallAnswer& answer) {
  const std::unique_ptr<SmallRequest> over = std::move(request_);
  const std::string where = shown_url(endpoint_);
  if (!answer.fault.empty()) {
    done_(fmt::format("no registration at {}: {}", where, answer.fault));
    return;
  }
  auto read = read_registration(answer.status, answer.body, redirect_uri_);
  if (const auto* why = std::get_if<std::string>(&read)) {
    done_(
        fmt::format("{} does not register the bridge: {}; register a client there by hand, then {}",
                    where, server_words(*why, {}), how_to_name_the_client()));
    return;
  }
  done_(std::get<OAuthClient>(std::move(read)));
}

}  // namespace bridge
