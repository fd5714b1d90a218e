#include "auth/make_token_source.hpp"

#include <fmt/format.h>

#include "auth/browser_login.hpp"
#include "auth/local_token.hpp"
#include "auth/login_token.hpp"
#include "auth/oauth_token.hpp"
#include "auth/token_store.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
namespace {

std::string fault_of_file(const std::string& path) {
  const SecretFile file = read_secret_file(path, "--token-file");
  if (file.fault.empty() && !is_token(file.content)) {
    return fmt::format("--token-file: {}: not one line of visible ASCII characters",
                       printable(path));
  }
  return file.fault;
}

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
  if (!options.token_command.empty()) return {};
  if (!options.token_file.empty()) return fault_of_file(options.token_file);
  if (options.uses_oauth()) return fault_of_oauth(options.oauth);
  if (options.asks_for_login() || options.static_token.empty())
    return fault_of_login(options.oauth);
  if (!options.static_token.empty() && !is_token(options.static_token)) {
    return "MCP_SERVER_TOKEN has a character that is not valid in a token (a space or a line end?)";
  }
  return {};
}

std::unique_ptr<TokenSource> make_token_source(EventLoop& loop, CurlLoop& curl,
                                               const AuthOptions& options, const HttpOptions& http,
                                               Log& log) {
  if (!options.token_command.empty()) {
    CommandLimits limits;
    limits.descriptors = options.descriptors;
    return std::make_unique<TokenCommand>(loop, options.token_command, options.token_ttl, log,
                                          limits);
  }
  if (!options.token_file.empty()) return std::make_unique<TokenFile>(loop, options.token_file);
  if (options.uses_oauth()) {
    return std::make_unique<OAuthToken>(loop, curl, options.oauth, http, log);
  }
  if (!options.static_token.empty() && !options.asks_for_login())
    return std::make_unique<StaticToken>(loop, options.static_token);
  return std::make_unique<LoginToken>(loop, curl, options.oauth, http, log);
}

std::string why_no_login(const AuthOptions& options) {
  const auto names = [](std::string_view source) {
    return fmt::format("the token comes from {}; a login needs a daemon without it", source);
  };
  if (!options.token_command.empty()) return names("--token-command");
  if (!options.token_file.empty()) return names("--token-file");
  if (options.uses_oauth()) return names("OAuth client credentials");
  if (!options.static_token.empty() && !options.asks_for_login()) return names("MCP_SERVER_TOKEN");
  return {};
}

}  // namespace bridge
