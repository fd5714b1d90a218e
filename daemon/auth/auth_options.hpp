#pragma once

#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "auth/token_source.hpp"
#include "event/event_loop.hpp"

namespace bridge {

class CurlLoop;
class Log;
struct HttpOptions;

/// OAuth 2.1 client credentials; set if client_id is.
struct OAuthOptions {
  std::string client_id;
  std::string client_secret_file;  ///< one of these two
  std::string private_key_file;    ///< PEM, P-256 or RSA: private_key_jwt
  std::string token_url;           ///< empty: discovered
  std::string scope;               ///< empty: what the server asks for
};

/// Where the bearer token comes from: the first of token_command, token_file, OAuth and
/// static_token that is set.
struct AuthOptions {
  std::string static_token;   ///< MCP_SERVER_TOKEN; empty: no Authorization header
  std::string token_file;     ///< --token-file
  std::string token_command;  ///< --token-command
  std::optional<std::chrono::milliseconds> token_ttl;  ///< --token-ttl, of the command's token
  OAuthOptions oauth;
  std::optional<rlimit> descriptors{};  ///< the limit that --token-command runs with; none: ours

  bool uses_oauth() const { return !oauth.client_id.empty(); }
};

/// What is wrong with them, as one clear line, or an empty string: a file that is set but cannot be
/// read, a key of another kind, OAuth without a way to authenticate, a token URL that would send
/// the secret in the clear. Reads the files and runs nothing; for the start and --check.
std::string fault_of(const AuthOptions& options);

/// `http` is the upstream: its URL is what tokens are asked for, its TLS and proxy settings count
/// for token requests too. The loop's thread only. What is given by reference outlives the source,
/// except for the options, which are copied.
std::unique_ptr<TokenSource> make_token_source(EventLoop& loop, CurlLoop& curl,
                                               const AuthOptions& options, const HttpOptions& http,
                                               Log& log);

}  // namespace bridge
