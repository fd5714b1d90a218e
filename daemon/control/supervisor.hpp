#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "auth/login_desk.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "process/resources.hpp"
#include "session/session.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

// The loop's thread only.

/// Whether a request can be expected to be served (BEHAVIOUR, "Session: ready"): the last attempt
/// to open or use the session did not fail, and no login is required first.
inline bool is_ready(const Session& session, const Upstream& upstream) {
  const LoginDesk* const login = upstream.login();
  return session.is_ready() && (login == nullptr || !login->login_status().is_over);
}

/// The state of a login, where one is possible: an upstream that has refused a message and then
/// served one without a token does not need one.
inline LoginStatus login_status(const Session& session, const LoginDesk& login) {
  LoginStatus status = login.login_status();
  if (status.state == LoginState::needed && !status.is_over && session.is_ready())
    status.state = LoginState::none;
  return status;
}

/// The session's state in words, for people: one line, nothing secret. `failure` is the reason of
/// the last failed attempt.
std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure);

/// What the daemon is doing at this moment.
struct Activity {
  bool is_busy = false;       ///< a client is connected, or work is in progress
  bool has_untaken = false;   ///< if not busy: notifications and jobs that would be lost with it
  bool is_of_no_use = false;  ///< there has never been a session, and none could be opened
};

/// Ends the daemon once it has been idle for --idle-exit; after a minute at most if its address is
/// probably mistyped. Checks after each turn; its timer is set only while the daemon is idle.
///
/// Owned by the daemon; the loop's thread only.
class IdleExit {
 public:
  /// `end` is called once, from the loop.
  IdleExit(EventLoop& loop, IdleOptions options, std::function<Activity()> activity,
           std::function<void()> end)
      : loop_(loop),
        options_(options),
        activity_(std::move(activity)),
        end_(std::move(end)),
        timer_(loop, [this] { expired(); }) {}

  /// After each turn.
  void look();

 private:
  SteadyTime due(const Activity& now) const;
  void expired();

  EventLoop& loop_;
  const IdleOptions options_;
  std::function<Activity()> activity_;
  std::function<void()> end_;
  std::optional<SteadyTime> idle_since_;
  DeadlineTimer timer_;
};

/// The datagram socket of a service manager (sd_notify(3)), without its library.
///
/// Never blocks: a datagram that the manager's queue has no room for is reported, not waited for.
/// Closed by the destructor, and in children by exec. Owned by the Supervisor.
class NotifySocket {
 public:
  /// `address` as in NOTIFY_SOCKET: a path, or `@name` for an abstract socket. nullopt for other
  /// kinds (vsock:, relative paths) and for names that are too long.
  static std::optional<NotifySocket> open(std::string_view address);

  NotifySocket(NotifySocket&& other) noexcept;
  NotifySocket& operator=(NotifySocket&&) = delete;
  ~NotifySocket();

  enum class Sent { yes, later, failed };
  /// Sends one datagram of `NAME=value` lines. `later`: the queue is full.
  Sent send(std::string_view lines) const;

 private:
  NotifySocket(int descriptor, std::string address)
      : descriptor_(descriptor), address_(std::move(address)) {}

  int descriptor_ = -1;
  std::string address_;
};

/// What a service manager put into the environment for this process.
struct Supervision {
  std::string notify_socket;                            ///< NOTIFY_SOCKET; empty: no notifications
  std::optional<std::chrono::microseconds> watchdog{};  ///< WATCHDOG_USEC, if for this process
};

/// Reads it (sd_notify(3), sd_watchdog_enabled(3)) and removes it from the environment: it is meant
/// for this process only.
Supervision take_supervision();

/// Reports the daemon's state to the service manager (Type=notify): ready, reloading, stopping, a
/// status line, and, if requested, the watchdog's sign that the loop runs. Without a manager it
/// does nothing and sets no timer.
///
/// Owned by the daemon; the loop's thread only. Never blocks: while the manager's queue is
/// full, messages are kept (at most 4 KiB, then all but the newest are dropped) and
/// retried.
class Supervisor {
 public:
  Supervisor(EventLoop& loop, Supervision supervision, Log& log);

  /// The socket accepts connections. From now on the watchdog is fed.
  void ready();
  /// Between reloading() and reloaded() the manager shows the daemon as reloading.
  void reloading();
  void reloaded();
  /// The daemon is stopping and may need `timeout`, whatever the manager's own limit is.
  void stopping(std::chrono::milliseconds timeout);
  /// One line for people, shown by `systemctl status`. Sent only if it has changed.
  void status(std::string_view text);

 private:
  void tell(std::string_view lines);
  void send();
  void feed_watchdog();

  Log& log_;
  std::optional<NotifySocket> socket_;
  std::optional<std::chrono::milliseconds> beat_;  ///< between two watchdog signals
  std::string unsent_;
  std::string status_;
  DeadlineTimer send_again_;
  DeadlineTimer next_beat_;
};

}  // namespace bridge
