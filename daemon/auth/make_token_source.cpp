#include "auth/make_token_source.hpp"

#include <fmt/format.h>

#include "auth/browser_login.hpp"
#include "auth/local_token.hpp"
#include "auth/login_token.hpp"
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
  if (!options.client_secret_file.empty() && options.client_id.empty())
    return "OAuth needs --oauth-client-id";
  return options.client_secret_file.empty()
             ? std::string()
             : read_secret_file(options.client_secret_file, "--oauth-client-secret-file").fault;
}

std::string fault_of_oauth(const OAuthOptions& options) {
  if (options.client_id.empty()) return "OAuth needs --oauth-client-id";
  if (options.client_secret_file.empty() == options.private_key_file.empty()) {
    return "--oauth-client-id needs --oauth-client-secret-file or --oauth-private-key, not both";
  }
  if (!options.token_url.empty()) {
    const auto url = parse_web_url(options.token_url);
    if (!url || url->has_user || url->has_fragment || !is_trustworthy(*url)) {
      return "--oauth-token-url: expected https://HOST/PATH, or http to this machine";
    }
  }
  return options.private_key_file.empty()
             ? read_secret_file(options.client_secret_file, "--oauth-client-secret-file").fault
             : fault_of_key(options.private_key_file);
}

}  // namespace

std::string fault_of(const AuthOptions& options) {
  switch (options.origin()) {
    case TokenOrigin::command:
    case TokenOrigin::fixed: return {};
    case TokenOrigin::file: return WatchedToken(options.token_file, "--token-file").fault();
    case TokenOrigin::client_credentials: return fault_of_oauth(options.oauth);
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
    case TokenOrigin::client_credentials:
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
    case TokenOrigin::client_credentials: return "OAuth client credentials";
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
