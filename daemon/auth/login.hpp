#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

/// The login of a person, as the control methods use it. The loop's thread only; owned by the
/// upstream. Each `done` is called once, in a turn, at once or later.
class Login {
 public:
  using Done = std::function<void(const LoginAnswer&)>;
  using LogoutDone = std::function<void(const LogoutAnswer&)>;

  virtual LoginStatus login_status() const = 0;
  virtual LoginCounts login_counts() const = 0;

  /// Begins a login, or joins the pending one; answered when there is an offer.
  virtual void begin_login(std::optional<LoginMode> mode, Done done) = 0;
  /// Completes a login with the address at which the person's browser ended. Answered when that
  /// login is over; an address that does not belong to it ends nothing.
  virtual void complete_login(const std::string& address, Done done) = 0;
  /// Answered when the pending login is over, or after that time.
  virtual void wait_for_login(std::chrono::milliseconds time, Done done) = 0;
  virtual void cancel_login(Done done) = 0;
  /// Drops the tokens at once; answered when the server was told, or could not be.
  virtual void log_out(LogoutDone done) = 0;

  /// Sets the action run after each login. Called once.
  virtual void on_login(std::function<void()> action) = 0;

  // For an upgrade.
  /// A pending login cannot be resumed: its waiters are told so.
  virtual void give_up_pending_login() = 0;
  /// The login as text; secret. Empty: there is none.
  virtual std::string save_login() const = 0;
  virtual void restore_login(const std::string& saved) = 0;

 protected:
  ~Login() = default;
};

/// The command that a person types to log in.
constexpr std::string_view login_command = "mcp-nc login";

}  // namespace bridge
