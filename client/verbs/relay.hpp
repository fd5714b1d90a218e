#pragma once

#include <functional>
#include <set>

#include "connection/connect.hpp"

namespace client {

/// Observes what a relay carries. Called by the relay, in its thread and never from
/// within a call of its own; it must not block. It sees pieces of any size, in
/// order.
class RelayObserver {
 public:
  virtual ~RelayObserver() = default;

  /// At the end of what is sent a line break: a last line without one is complete.
  virtual void take_sent(std::string_view bytes) = 0;
  /// Bytes as received from the daemon.
  virtual void take_received(std::string_view bytes) = 0;

  /// Events to be woken for: a descriptor that becomes readable (or -1), and a time.
  virtual int descriptor() const = 0;
  virtual Deadline deadline() const = 0;
  /// One of the two has occurred.
  virtual void wake() = 0;
};

/// How the relay ended.
enum class RelayEnd {
  finished,       ///< all was sent, and the daemon closed after its last response
  output_closed,  ///< the reader of our output is gone
  hung_up,        ///< the daemon closed while our input was still open
  timed_out,      ///< nothing arrived for `idle` after the end of our input
  output_failed,  ///< see errno
};

/// Carries bytes between `input`, the daemon and `output` without parsing them. The end of `input`
/// becomes a half-close: responses still arrive. At most 64 KiB are held in each direction; nothing
/// is read without room for it. `received` precedes what the daemon sends; it outlives the call.
/// `input` and `output` are not owned and their flags are not changed. If `output` is a terminal,
/// control characters are made visible. `observer` may be null; it outlives the call.
RelayEnd relay(int input, int output, DaemonStream daemon, std::optional<Milliseconds> idle,
               RelayObserver* observer = nullptr, std::string_view received = {});

/// The unanswered requests of a connection, from the bytes of both directions, in pieces of any
/// size. Pure, and bounded: lines of up to longest_line bytes are parsed and up to most_requests
/// ids are kept; anything beyond is not noticed. The end of a line that is too long to parse, a
/// response without an id and a cancellation can end a request, so that none is kept for ever:
/// better forgotten than wrongly considered pending.
class UnansweredRequests {
 public:
  static constexpr std::size_t longest_line = std::size_t{64} * 1024 * 1024;
  static constexpr std::size_t most_requests = 1024;
  static constexpr std::size_t longest_id = 256;

  /// Whether a complete line contains a new request.
  bool take_sent(std::string_view bytes);
  void take_received(std::string_view bytes);

  bool empty() const { return ids_.empty(); }

 private:
  /// A direction: the received part of an incomplete line.
  struct Line {
    std::string begun;
    bool is_too_long = false;
  };

  void split(Line& line, std::string_view bytes);
  void end_line(Line& line, std::string_view rest);
  void take_message(std::string_view text, bool is_sent);

  Line sent_;
  Line received_;
  bool has_new_ = false;
  std::set<std::string> ids_;  // as JSON, byte for byte
};

/// Tells a person at the relay what is being waited for, as a verb does. A
/// request without a response after `timeout` is examined once, over a separate connection: the
/// relayed data stay as they are, and no notification is taken from the daemon. It prints one line
/// at most until no request is unanswered; until then it examines nothing further.
class WaitingWatch final : public RelayObserver {
 public:
  /// Makes a new connection to the daemon; empty if none is possible at once.
  using Connect = std::function<DaemonStream()>;
  using Say = std::function<void(std::string_view line)>;

  WaitingWatch(Milliseconds timeout, Connect connect, Say say);

  void take_sent(std::string_view bytes) override;
  void take_received(std::string_view bytes) override;
  int descriptor() const override { return look_ ? look_->descriptor() : -1; }
  Deadline deadline() const override;
  void wake() override;

 private:
  void begin_look();
  void take_look();

  Milliseconds timeout_;
  Connect connect_;
  Say say_;
  UnansweredRequests requests_;
  std::optional<Deadline> look_at_;   // for the last request sent and not looked up yet
  std::optional<Conversation> look_;  // a look-up in progress
  Deadline look_until_;
  bool said_ = false;  // since requests are unanswered
};

/// Until a client sends a line, the daemon treats it as one of the older revisions. So this waits a
/// moment for the first line before connecting; a client that only listens is connected after it.
void await_first_line();

/// `mcp-nc` without a verb.
ExitCode run_relay(Connected connected, const Options& options, const TrustedPeer& trusted);

}  // namespace client
