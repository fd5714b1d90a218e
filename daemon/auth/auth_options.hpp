#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

/// How tokens are obtained by OAuth 2.1.
enum class OAuthGrant : std::uint8_t {
  automatic,  ///< client credentials if there is a secret or a key, else a login
  authorization_code,
  device,
  client_credentials,
};

/// OAuth 2.1: client credentials, or a login by a person.
struct OAuthOptions {
  std::string client_id;
  std::string client_secret_file;  ///< for client credentials: one of these two
  std::string private_key_file;    ///< PEM, P-256 or RSA: private_key_jwt
  std::string token_url;           ///< for client credentials; empty: discovered
  std::string scope;               ///< empty: what the server asks for
  OAuthGrant grant = OAuthGrant::automatic;

  // For a login.
  std::string client_metadata_url;       ///< empty: none
  std::string redirect = "127.0.0.1:0";  ///< where the browser is redirected to
  bool allow_private = false;            ///< a public server may name servers at private addresses
  bool assume_pkce = false;              ///< of servers that do not announce it
  std::string token_store;               ///< empty: in memory
  std::chrono::milliseconds idle_refresh{std::chrono::hours(24)};  ///< 0: never

  /// Whether a person has to log in, whatever the server says.
  bool wants_person() const {
    return grant == OAuthGrant::authorization_code || grant == OAuthGrant::device;
  }
  bool uses_client_credentials() const {
    if (grant != OAuthGrant::automatic) return grant == OAuthGrant::client_credentials;
    return !client_secret_file.empty() || !private_key_file.empty() || !token_url.empty();
  }
};

/// Where the bearer token comes from: the first that is set of token_command, token_file, OAuth
/// client credentials, static_token; else a login, when the server requires one. A login requested
/// by `grant` has precedence over static_token.
struct AuthOptions {
  std::string static_token;   ///< MCP_SERVER_TOKEN; empty: no Authorization header
  std::string token_file;     ///< --token-file
  std::string token_command;  ///< --token-command
  std::optional<std::chrono::milliseconds> token_ttl;  ///< --token-ttl, for the command's token
  OAuthOptions oauth;
  std::optional<rlimit> descriptors{};  ///< for --token-command; none: the daemon's limit

  bool uses_oauth() const { return oauth.uses_client_credentials(); }
  bool asks_for_login() const {
    return !uses_oauth() && (oauth.grant != OAuthGrant::automatic || !oauth.client_id.empty());
  }
};

}  // namespace bridge
