#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "auth/access_token.hpp"
#include "auth/auth_options.hpp"
#include "event/event_loop.hpp"

namespace bridge {

class CurlLoop;
class Log;
struct HttpOptions;

/// What is wrong with the options, as one clear line, or an empty string: a file that cannot be
/// read, a key of another kind, OAuth without a way to authenticate, a token URL that would send
/// the secret in the clear. Reads the files and runs nothing; for the start and --check.
std::string fault_of(const AuthOptions& options);

/// `http` describes the upstream: tokens are requested for its URL, and its TLS and proxy settings
/// apply to token requests too. The loop's thread only. References outlive the source, except for
/// the options, which are copied.
std::unique_ptr<TokenSource> make_token_source(EventLoop& loop, CurlLoop& curl,
                                               const AuthOptions& options, const HttpOptions& http,
                                               Log& log);

/// For messages.
std::string_view name_of(TokenOrigin origin);

/// Why no login is possible: the source of the token, by name; empty if a login is possible.
std::string why_no_login(const AuthOptions& options);

}  // namespace bridge
