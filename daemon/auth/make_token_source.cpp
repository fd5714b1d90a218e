#include "auth/make_token_source.hpp"

#include <fmt/format.h>

#include "auth/browser_login.hpp"
#include "auth/local_token.hpp"
#include "auth/login_token.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/oauth_token.hpp"
#include "auth/token_store.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/watched_token.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
namespace {

std::string fault_of_key(const std::string& path) {
  const SecretFile file = read_secret_file(path, "--oauth-private-key");
  if (!file.fault.empty()) return file.fault;
  const auto key = SigningKey::from_pem(file.content);
  const auto* why = std::get_if<std::string>(&key);
  return why == nullptr ? std::string()
                        : fmt::format("--oauth-private-key: {}: {}", printable(path), *why);
}

std::string fault_of_login(const OAuthOptions& options) {
  if (!options.private_key_file.empty())
    return "--oauth-private-key is for client credentials, not for a login";
  if (!options.token_url.empty())
    return "--oauth-token-url is for client credentials; a login finds its server";
  if (!RedirectPlace::parse(options.redirect))
    return "--oauth-redirect: expected HOST:PORT of this machine: 127.0.0.1, [::1] or localhost";
  if (!options.client_metadata_url.empty()) {
    const auto url = parse_web_url(options.client_metadata_url);
    if (!url || url->has_user || url->has_fragment || url->path == "/" || !is_trustworthy(*url))
      return "--oauth-client-metadata-url: expected https://HOST/PATH";
  }
  if (!options.token_store.empty()) {
    std::string fault = fault_of_token_store(options.token_store);
    if (!fault.empty()) return fault;
  }
  if (options.has_client_secret() && options.client_id.empty())
    return "OAuth needs --oauth-client-id";
  if (!options.assertion_file.empty())
    return "--oauth-assertion-file needs --oauth-grant jwt-bearer";
  return options.has_client_secret() ? read_client_secret(options).fault : std::string();
}

/// What is wrong with the client's authentication: one way for client credentials; with an
/// assertion, which says who asks, at most one (RFC 7523, section 3.1).
std::string fault_of_client(const OAuthOptions& options) {
  const bool has_secret = options.has_client_secret();
  const bool has_key = !options.private_key_file.empty();
  const bool is_assertion = options.grant == OAuthGrant::jwt_bearer;
  if (is_assertion != !options.assertion_file.empty()) {
    return is_assertion ? "--oauth-grant jwt-bearer needs --oauth-assertion-file"
                        : "--oauth-assertion-file needs --oauth-grant jwt-bearer";
  }
  if (options.client_id.empty() && (!is_assertion || has_secret || has_key))
    return "OAuth needs --oauth-client-id";
  if (is_assertion ? has_secret && has_key : has_secret == has_key)
    return "--oauth-client-id needs --oauth-client-secret-file or --oauth-private-key, not both";
  return {};
}

std::string fault_of_oauth(const OAuthOptions& options) {
  if (std::string fault = fault_of_client(options); !fault.empty()) return fault;
  if (!options.assertion_file.empty()) {
    std::string fault = read_secret_file(options.assertion_file, assertion_option).fault;
    if (!fault.empty()) return fault;
  }
  if (!options.token_url.empty()) {
    const auto url = parse_web_url(options.token_url);
    if (!url || url->has_user || url->has_fragment || !is_trustworthy(*url)) {
      return "--oauth-token-url: expected https://HOST/PATH, or http to this machine";
    }
  }
  if (!options.private_key_file.empty()) return fault_of_key(options.private_key_file);
  return options.has_client_secret() ? read_client_secret(options).fault : std::string();
}

}  // namespace

std::string fault_of(const AuthOptions& options) {
  switch (options.origin()) {
    case TokenOrigin::command:
    case TokenOrigin::fixed: return {};
    case TokenOrigin::file: return WatchedToken(options.token_file, "--token-file").fault();
    case TokenOrigin::oauth: return fault_of_oauth(options.oauth);
    case TokenOrigin::login: break;
  }
  return fault_of_login(options.oauth);
}

std::unique_ptr<TokenSource> make_token_source(EventLoop& loop, CurlLoop& curl,
                                               const AuthOptions& options, const HttpOptions& http,
                                               Log& log) {
  CommandLimits limits;
  limits.descriptors = options.descriptors;
  switch (options.origin()) {
    case TokenOrigin::command:
      return std::make_unique<TokenCommand>(loop, options.token_command, options.token_ttl, log,
                                            limits);
    case TokenOrigin::file: return std::make_unique<TokenFile>(loop, options.token_file);
    case TokenOrigin::oauth:
      return std::make_unique<OAuthToken>(loop, curl, options.oauth, http, log);
    case TokenOrigin::fixed: return std::make_unique<StaticToken>(loop, options.static_token);
    case TokenOrigin::login: break;
  }
  return std::make_unique<LoginToken>(loop, curl, options.oauth, http, log);
}

std::string_view name_of(TokenOrigin origin) {
  switch (origin) {
    case TokenOrigin::command: return "--token-command";
    case TokenOrigin::file: return "--token-file";
    case TokenOrigin::oauth: return "OAuth client credentials or an assertion";
    case TokenOrigin::fixed: return "MCP_SERVER_TOKEN";
    case TokenOrigin::login: break;
  }
  return "a login";
}

std::string why_no_login(const AuthOptions& options) {
  if (options.origin() == TokenOrigin::login) return {};
  return fmt::format("the token comes from {}; a login needs a daemon without it",
                     name_of(options.origin()));
}

}  // namespace bridge
