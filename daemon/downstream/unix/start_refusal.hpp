#pragma once

namespace bridge {

/// The clients that a service manager's socket holds while the daemon starts (socket activation,
/// sd_listen_fds(3)). If it cannot start they are told so and let go: otherwise systemd, which sees
/// them still waiting, would start it again at once with the same fault, until it gives up the
/// socket.
///
/// Owns a duplicate of the passed socket for as long as it lives. Never throws.
class StartRefusal {
 public:
  /// REQUIRES: before anybody has taken the passed socket (ListeningSocket::inherited).
  StartRefusal();
  StartRefusal(const StartRefusal&) = delete;
  StartRefusal& operator=(const StartRefusal&) = delete;
  ~StartRefusal();

  /// Answers the requests that each waiting client has sent with an error that names the log, not
  /// what is wrong: the log may be for fewer eyes. Who has sent none gets the error with a null id.
  /// Waits for nobody.
  void tell_waiting_clients(int exit_code) const;

 private:
  int listener_ = -1;  ///< -1: no socket was passed
};

}  // namespace bridge
