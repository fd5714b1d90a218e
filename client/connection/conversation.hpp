#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "system/files.hpp"

namespace client {

/// A point on the monotonic clock, or never.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline never() { return {}; }
  static Deadline after(std::chrono::milliseconds duration) {
    Deadline deadline;
    deadline.at_ = Clock::now() + duration;
    return deadline;
  }
  static Deadline after(std::optional<std::chrono::milliseconds> duration) {
    return duration ? after(*duration) : never();
  }
  static Deadline earlier(Deadline one, Deadline other) {
    if (!one.at_) return other;
    if (!other.at_) return one;
    return *one.at_ < *other.at_ ? one : other;
  }

  bool passed() const { return at_ && Clock::now() >= *at_; }

  /// Rounded up, not below 0; a very long time for never.
  std::chrono::milliseconds left() const {
    if (!at_) return std::chrono::milliseconds::max();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(*at_ - Clock::now()),
                    std::chrono::milliseconds(0));
  }

  /// For poll(2): -1 never, rounded up so that waking is never too early.
  int poll_timeout() const {
    if (!at_) return -1;
    return static_cast<int>(std::min<long long>(left().count(), 1000LL * 1000 * 1000));
  }

 private:
  std::optional<Clock::time_point> at_;
};

/// A connection to a daemon: a socket, or two pipes (PIPES.md). Its descriptors do not block; to
/// destroy it is to leave. Of pipes only the end of what is received tells that the daemon has
/// ended, since `sending` is open for reading, too.
class DaemonStream {
 public:
  DaemonStream(FileDescriptor socket = {}, FileDescriptor sending_pipe = {})
      : receiving_(std::move(socket)), sending_pipe_(std::move(sending_pipe)) {}

  explicit operator bool() const { return static_cast<bool>(receiving_); }
  /// To poll for POLLIN.
  int get() const { return receiving_.get(); }
  /// To poll for POLLOUT, before finish_sending().
  int sending() const { return sending_pipe_ ? sending_pipe_.get() : receiving_.get(); }

  /// Sends as much as fits and removes it from `bytes`. False if the daemon accepts no more.
  bool send(std::string_view& bytes) const;
  /// The received bytes' number, 0 if there are none yet; nullopt once the daemon has closed.
  std::optional<std::size_t> receive(char* to, std::size_t size) const;
  /// Half-closes.
  void finish_sending();

 private:
  FileDescriptor receiving_;
  FileDescriptor sending_pipe_;
};

/// Lines to and from the daemon over one connection, without threads, blocking only in poll(2).
/// Received and queued lines have no line break.
class Conversation {
 public:
  /// A longer line from the daemon is refused, so that memory is bounded.
  static constexpr std::size_t longest_line = std::size_t{64} * 1024 * 1024;

  enum class Event {
    line,           ///< line() returns it, until the next call of next()
    input,          ///< the extra descriptor can be read
    output_closed,  ///< the reader of our output is gone; only if it is watched
    closed,         ///< the daemon has closed; all that it had sent was handed out before
    timed_out,      ///< the deadline has passed
    interrupted,    ///< the interrupt descriptor is readable
    too_long,       ///< the daemon sent more than longest_line without a line break
  };

  /// `interrupt` is a descriptor to poll, not owned, or -1.
  Conversation(DaemonStream daemon, int interrupt);

  /// Queues a line. Lines queued together are sent together, at the next call of next().
  void queue(std::string_view line);

  /// Waits for the first event, sending queued lines meanwhile. `input` is one more descriptor to
  /// watch, or -1.
  Event next(Deadline deadline, int input = -1);

  std::string_view line() const { return line_; }

  /// `lines`, each with its line break, are handed out before everything else.
  void put_back(std::string_view lines);

  /// Ends the conversation: the connection, and the received bytes that were not handed out.
  std::pair<DaemonStream, std::string> release() &&;

  /// The connection, to poll for POLLIN when nothing is queued.
  int descriptor() const { return daemon_.get(); }

  /// From now on the closing of that descriptor's other side is an event. Not owned.
  void watch_output(int output) { output_ = output; }

  /// Half-closes once all queued lines were sent. The daemon then closes as soon as it has nothing
  /// more to send.
  void finish_sending();

 private:
  bool take_line();
  void send();
  bool receive();

  DaemonStream daemon_;
  int interrupt_;
  int output_ = -1;
  std::string outbox_;
  std::size_t sent_ = 0;
  std::string inbox_;
  std::size_t consumed_ = 0;  // of inbox_, handed out
  std::size_t searched_ = 0;  // of inbox_, without a line break after consumed_
  std::string_view line_;
  std::unique_ptr<char[]> chunk_;  // the buffer of read(2)
  bool finishing_ = false;
  bool sending_done_ = false;
  bool closed_ = false;
};

}  // namespace client
