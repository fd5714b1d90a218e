#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

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
