#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace bridge
