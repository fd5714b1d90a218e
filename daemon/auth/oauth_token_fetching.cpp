#include <fmt/format.h>

#include <utility>

#include "auth/client_assertion.hpp"
#include "auth/oauth_token.hpp"
#include "auth/shown_url.hpp"
#include "auth/token_response.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "http/client/web_url.hpp"

namespace bridge {

void OAuthToken::begin() {
  if (!options_.token_url.empty()) {
    server_.found = AuthorizationServer{{}, options_.token_url, false, resource_, {}, {}, false};
    request_token();
  } else if (server_.found && server_.found_by == server_.announced) {
    request_token();
  } else {
    server_.found_by = server_.announced;
    server_.discovery = std::make_unique<Discovery>(
        curl_, upstream_, resource_, Discovery::Refusal{needed_, server_.announced},
        [this](const Discovery::Result& result) { discovered(result); });
    server_.discovery->start();
  }
}

void OAuthToken::discovered(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(server_.discovery);
  server_.found = result.server;
  upstream_.public_only = result.is_public;
  if (!server_.found) {
    fail(fmt::format("cannot find the authorization server of {}: {}; --oauth-token-url can name "
                     "its token endpoint",
                     shown_url(resource_), result.fault),
         false);
    return;
  }
  log_.event(LogLevel::debug, "authorization server", "the authorization server of {} is {}",
             shown_url(resource_), shown_url(server_.found->issuer));
  request_token();
}

bool OAuthToken::authenticate(TokenRequest& request, std::string& fault) {
  if (options_.private_key_file.empty()) {
    SecretFile file = read_secret_file(options_.client_secret_file, "--oauth-client-secret-file");
    fault = std::move(file.fault);
    request.secret = std::move(file.content);
    request.how = server_.found->secret_in_body ? ClientAuthentication::secret_post
                                                : ClientAuthentication::secret_basic;
    return fault.empty();
  }
  const SecretFile file = read_secret_file(options_.private_key_file, "--oauth-private-key");
  fault = file.fault;
  if (!fault.empty()) return false;
  const auto key = SigningKey::from_pem(file.content);
  if (const auto* why = std::get_if<std::string>(&key)) {
    fault = fmt::format("--oauth-private-key: {}: {}", printable(options_.private_key_file), *why);
    return false;
  }
  const auto id = random_id();
  const std::string& audience =
      server_.found->issuer.empty() ? server_.found->token_endpoint : server_.found->issuer;
  const auto assertion =
      id ? client_assertion(std::get<SigningKey>(key),
                            {request.client_id, audience, *id, loop_.wall_time()})
         : std::nullopt;
  if (!assertion) {
    fault = "the client assertion cannot be signed";
    return false;
  }
  request.secret = *assertion;
  request.how = ClientAuthentication::private_key_jwt;
  return true;
}

void OAuthToken::request_token() {
  TokenRequest request;
  request.client_id = options_.client_id;
  request.resource = server_.found->resource;
  request.scope = scope();
  std::string fault;
  if (!authenticate(request, fault)) {
    fail(fault, false);
    return;
  }
  request_.asked = loop_.now();
  const std::string form = request.body();
  request_.text = std::move(request);
  request_.transfer = std::make_unique<SmallRequest>(
      curl_, upstream_, server_.found->token_endpoint, &form, request_.text.authorization(),
      [this](const SmallAnswer& answer) { answered(answer); });
}

void OAuthToken::answered(const SmallAnswer& answer) {
  const std::unique_ptr<SmallRequest> over = std::move(request_.transfer);
  const std::string where =
      shown_url(server_.found ? server_.found->token_endpoint : std::string());
  std::string remark = server_.found ? server_.found->remark() : std::string();
  if (!remark.empty()) remark += "; --oauth-token-url can name its token endpoint";
  if (!answer.fault.empty()) {
    fail(fmt::format("no token from {}: {}{}", where, answer.fault, remark), false);
    return;
  }
  const auto response = read_token_response(answer.status, answer.body);
  if (const auto* refusal = std::get_if<TokenRefusal>(&response)) {
    // Whatever of the request an answer might repeat.
    std::vector<std::string> sent = secrets();
    const std::string authorization = request_.text.authorization();
    if (!authorization.empty()) sent.push_back(authorization.substr(authorization.find(' ') + 1));
    const std::string reason = printable(redacted(refusal->reason, std::move(sent)), 400);
    fail(fmt::format("no token from {}: {}{}", where, reason, remark), answer.status < 500);
    return;
  }
  const auto& grant = std::get<TokenGrant>(response);
  token_ = grant.token;
  life_ = TokenLife::of(request_.asked, loop_.now(), grant.expires_in);
  recent_.add(grant.token);
  log_.event(LogLevel::debug, "token", "a new token from {}{}", where,
             grant.expires_in ? fmt::format(", good for {} s", grant.expires_in->count()) : "");
  // A step that was asked for while an earlier fetch was under way is not made by its token.
  if (scope_.is_stepping() && request_.text.scope != scope()) {
    begin();
    return;
  }
  scope_.step_made();
  shared_.finish(TokenAnswer{grant.token, std::nullopt});
}

/// `judged`: the token endpoint has judged the request.
void OAuthToken::fail(const std::string& message, bool judged) {
  log_.peer(LogLevel::warning, "authorization", "{}", message);
  if (scope_.step_failed(judged) && judged && is_good()) {
    // Nobody gets more than this: who needs it is told so by the upstream, the others go on.
    shared_.finish(TokenAnswer{*token_, std::nullopt});
    return;
  }
  // It may have moved.
  server_.found.reset();
  shared_.finish(no_token(message));
}

}  // namespace bridge
