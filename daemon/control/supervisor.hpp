#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "auth/login.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "process/resources.hpp"
#include "session/session.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

// The loop's thread only.

/// Whether a request can be expected to be served (BEHAVIOUR, "Session: ready"): the last try to
/// open or to use the session did not fail, and no person has to log in first.
inline bool is_ready(const Session& session, const Upstream& upstream) {
  const Login* const login = upstream.login();
  return session.is_ready() && (login == nullptr || !login->login_status().is_over);
}

/// How a login stands, where one is possible: an upstream that has refused a message and then
/// served one without a token needs none.
inline LoginStatus login_status(const Session& session, const Login& login) {
  LoginStatus status = login.login_status();
  if (status.state == LoginState::needed && !status.is_over && session.is_ready())
    status.state = LoginState::none;
  return status;
}

/// The session's state in words, for people: one line, nothing secret. `failure` is why the last
/// try failed.
std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure);

/// What there is to do, at this moment.
struct Activity {
  bool is_busy = false;      ///< a client is connected, or something is under way
  bool has_untaken = false;  ///< notifications and jobs that would be lost with the daemon
};

/// Ends the daemon once it has been idle for --idle-exit. Looks when something has happened; its
/// timer is set only while there is nothing to do.
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

/// The datagram socket on which a service manager listens (sd_notify(3)), without its library.
///
/// Never blocks: what the manager's queue has no room for is reported, not waited for. Closed by
/// the destructor, and in children by exec. Owned by the Supervisor.
class NotifySocket {
 public:
  /// `address` as in NOTIFY_SOCKET: a path, or `@name` for an abstract socket. Nothing for other
  /// kinds (vsock:, relative paths) and for names that are too long.
  static std::optional<NotifySocket> open(std::string_view address);

  NotifySocket(NotifySocket&& other) noexcept;
  NotifySocket& operator=(NotifySocket&&) = delete;
  ~NotifySocket();

  enum class Sent { yes, later, failed };
  /// One datagram of `NAME=value` lines. `later`: its queue is full.
  Sent send(std::string_view lines) const;

 private:
  NotifySocket(int descriptor, std::string address)
      : descriptor_(descriptor), address_(std::move(address)) {}

  int descriptor_ = -1;
  std::string address_;
};

/// What a service manager left in the environment for this process.
struct Supervision {
  std::string notify_socket;  ///< NOTIFY_SOCKET; empty: it is told nothing
  std::optional<std::chrono::microseconds>
      watchdog{};  ///< WATCHDOG_USEC, if it is meant for this process
};

/// Reads it (sd_notify(3), sd_watchdog_enabled(3)) and removes it from the environment: it is meant
/// for no other process.
Supervision take_supervision();

/// Tells the service manager how the daemon is (Type=notify): ready, reloading, stopping, a line of
/// status, and, if it asked, that the loop still turns. Without a manager it does nothing and sets
/// no timer.
///
/// Owned by the daemon; the loop's thread only. Never blocks: while the manager's queue is full,
/// what it is to be told is kept (at most 4 KiB, then all but the newest is dropped) and tried
/// again.
class Supervisor {
 public:
  Supervisor(EventLoop& loop, Supervision supervision, Log& log);

  /// The socket accepts. From now on the watchdog is fed.
  void ready();
  /// Between reloading() and reloaded() the manager shows the daemon as reloading.
  void reloading();
  void reloaded();
  /// It ends, and may need `timeout` for that, whatever the manager's own limit is.
  void stopping(std::chrono::milliseconds timeout);
  /// One line for people, shown by `systemctl status`. Sent only when it is another one.
  void status(std::string_view text);

 private:
  void tell(std::string_view lines);
  void send();
  void feed_watchdog();

  Log& log_;
  std::optional<NotifySocket> socket_;
  std::optional<std::chrono::milliseconds> beat_;  ///< between two signs of life
  std::string unsent_;
  std::string status_;
  DeadlineTimer send_again_;
  DeadlineTimer next_beat_;
};

}  // namespace bridge
