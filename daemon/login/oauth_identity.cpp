#include "login/oauth_identity.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/endpoint_url.hpp"
#include "auth/shown_url.hpp"
#include "base/secret_file.hpp"
#include "login/registration.hpp"
#include "login/server_words.hpp"

namespace bridge {

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
  if (!options.client_secret_file.empty()) {
    const SecretFile file =
        read_secret_file(options.client_secret_file, "--oauth-client-secret-file");
    if (!file.fault.empty()) {
      done_(file.fault);
      return;
    }
    client.secret = file.content;
    client.place = secret_place(metadata);
  }
  done_(client);
}

void OAuthIdentity::request_registration(const AuthorizationServer& server,
                                         const std::string& scope) {
  endpoint_ = server.metadata.registration_endpoint;
  if (!endpoint_url(endpoint_)) {
    done_(
        fmt::format("{} does not register clients by itself: register one there and name it by "
                    "--oauth-client-id",
                    shown_url(server.issuer)));
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
        fmt::format("{} does not register the bridge: {}; a client that was registered by hand "
                    "is named by --oauth-client-id",
                    where, server_words(*why, {})));
    return;
  }
  done_(std::get<OAuthClient>(std::move(read)));
}

}  // namespace bridge
