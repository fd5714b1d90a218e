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
  jwt_bearer,  ///< RFC 7523: an assertion of a workload's identity for a token
};

/// OAuth 2.1: client credentials, an assertion, or a login by a person.
struct OAuthOptions {
  std::string client_id;
  std::string client_secret_file;  ///< for client credentials: one of these two
  std::string client_secret;       ///< itself, from a --config file; never an option
  std::string private_key_file;    ///< PEM, P-256 or RSA: private_key_jwt
  std::string assertion_file;      ///< for jwt_bearer: a JWT, read for each token
  std::string token_url;           ///< for client credentials; empty: discovered
  std::string scope;               ///< empty: what the server asks for
  OAuthGrant grant = OAuthGrant::automatic;

  // For a login.
  std::string client_metadata_url;       ///< empty: none
  std::string redirect = "127.0.0.1:0";  ///< where the browser is redirected to
  bool allow_private = false;            ///< a public server may name servers at private addresses
  bool assume_pkce = false;              ///< of servers that do not announce it
  std::string token_store;               ///< empty: in memory
  std::string login_command = "mcp-nc login";  ///< the command that a person types to log in
  std::chrono::milliseconds idle_refresh{std::chrono::hours(24)};  ///< 0: never

  bool has_client_secret() const { return !client_secret_file.empty() || !client_secret.empty(); }
  /// Whether a person has to log in, whatever the server says.
  bool wants_person() const {
    return grant == OAuthGrant::authorization_code || grant == OAuthGrant::device;
  }
  /// Whether tokens are fetched without a person.
  bool is_unattended() const {
    if (grant != OAuthGrant::automatic)
      return grant == OAuthGrant::client_credentials || grant == OAuthGrant::jwt_bearer;
    return !client_secret_file.empty() || !private_key_file.empty() || !token_url.empty();
  }
};

/// Where the bearer token comes from.
enum class TokenOrigin {
  command,
  file,
  oauth,  ///< without a person
  fixed,
  login,  ///< when the server requires one
};

struct AuthOptions {
  std::string static_token;   ///< MCP_SERVER_TOKEN; empty: no Authorization header
  std::string token_file;     ///< --token-file
  std::string token_command;  ///< --token-command
  std::optional<std::chrono::milliseconds> token_ttl;  ///< --token-ttl, for the command's token
  OAuthOptions oauth;
  std::optional<rlimit> descriptors{};  ///< for --token-command; none: the daemon's limit

  bool uses_oauth() const { return oauth.is_unattended(); }
  bool asks_for_login() const {
    return !uses_oauth() && (oauth.grant != OAuthGrant::automatic || !oauth.client_id.empty());
  }
  /// The first that is set; a login that was asked for has precedence over static_token.
  TokenOrigin origin() const {
    if (!token_command.empty()) return TokenOrigin::command;
    if (!token_file.empty()) return TokenOrigin::file;
    if (uses_oauth()) return TokenOrigin::oauth;
    return static_token.empty() || asks_for_login() ? TokenOrigin::login : TokenOrigin::fixed;
  }
};

}  // namespace bridge
