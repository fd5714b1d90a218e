#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/reply.hpp"

namespace bridge {

/// The state of a login (BEHAVIOUR, "Login: state").
enum class LoginState : std::uint8_t {
  none,     ///< not required so far
  needed,   ///< the upstream wants a person to log in
  pending,  ///< one is under way
  ok,
};
std::string_view name_of(LoginState state);

/// The state of a login as shown to clients; nothing secret.
struct LoginStatus {
  LoginState state = LoginState::none;
  std::optional<std::chrono::milliseconds> expires_in{};  ///< of the access token
  std::string scope{};                                    ///< granted; empty: unknown
  std::string wanted{};     ///< a further scope that the upstream has asked for
  bool is_over = false;     ///< no valid login, and no message is sent without one
  bool is_pending = false;  ///< another login is under way while this one is ok
};

/// All since the daemon's start.
struct LoginCounts {
  std::uint64_t logins = 0;
  std::uint64_t failed_logins = 0;
  std::uint64_t refreshes = 0;
  std::uint64_t failed_refreshes = 0;
};

enum class LoginMode : std::uint8_t { browser, device };

/// What the person has to do.
struct LoginOffer {
  std::string url;               ///< to be opened in a browser; or
  std::string verification_uri;  ///< to be opened on any device, and
  std::string user_code;         ///< to be typed there
  std::chrono::milliseconds expires_in{};
};

struct LoginAnswer {
  LoginStatus status{};
  std::optional<LoginOffer> offer{};  ///< while one is pending
  /// Why the login failed, or the call could not be served; nothing secret in it.
  std::optional<Failure> failure{};
};

struct LogoutAnswer {
  bool was_logged_in = false;
  bool revoked = false;  ///< the server has confirmed it
  std::string fault{};   ///< why the server could not be told
};

/// The end of a message about a server that wants a token and offers no login. Its beginning and
/// end are known to mcp-nc (client/render/failure.cpp).
constexpr std::string_view how_to_give_a_token =
    "; give the daemon its token: start mcp-bridged with --token-file, --token-command, --header "
    "or MCP_SERVER_TOKEN";
/// The end of a message about a login that needs an option of the daemon, with its variable. Known
/// to mcp-nc (client/verbs/dialogue.cpp), which makes it a command where it starts the daemon.
std::string how_to_log_in_with(std::string_view option, std::string_view variable,
                               std::string_view login_command);

}  // namespace bridge
