#pragma once

#include <chrono>

#include "http/client/curl_loop.hpp"

namespace bridge {

/// Makes curl close the connections of its cache that are dead, be it that they were shut down here
/// or that the peer has closed them. curl has no call for that: it looks for them when a transfer
/// begins, and not before a second has passed since it looked last. So a transfer is begun that
/// ends before it has a connection: no descriptor is opened for it and no byte sent.
///
/// Owned by IdleConnections, on the loop's thread.
class DeadConnections final : private CurlTransfer {
 public:
  explicit DeadConnections(CurlLoop& loop) : loop_(loop) {}
  ~DeadConnections() override { stop(); }
  DeadConnections(const DeadConnections&) = delete;
  DeadConnections& operator=(const DeadConnections&) = delete;

  /// A transfer begins now.
  void note_begin(std::chrono::steady_clock::time_point now);
  /// When curl will look again.
  std::chrono::steady_clock::time_point next_look() const { return last_look_ + between_looks; }
  /// REQUIRES: next_look() has come, else nothing is closed.
  void close();
  /// Ends what is under way, for good.
  void stop();

 private:
  /// A moment more than curl's second, whose clock is read later than ours.
  static constexpr std::chrono::milliseconds between_looks{1005};

  void transfer_progressed(bool done, int result) override;

  CurlLoop& loop_;
  CURL* handle_ = nullptr;
  bool running_ = false;
  std::chrono::steady_clock::time_point last_look_{};
};

}  // namespace bridge
