#pragma once

#include <functional>
#include <set>

#include "connection/connect.hpp"

namespace client {

/// Sees what a relay carries, and does something beside it. Called by the relay, in its thread and
/// never from within a call of its own; whatever it does must not block. What it sees are pieces of
/// any size, in order.
class RelayObserver {
 public:
  virtual ~RelayObserver() = default;

  virtual void take_sent(std::string_view bytes) = 0;
  /// Nothing more is sent: what has no line break yet is a line.
  virtual void take_end_of_sending() = 0;
  /// As it came from the daemon.
  virtual void take_received(std::string_view bytes) = 0;

  /// What it is to be woken for: a descriptor that can be read (or -1), and a time.
  virtual int descriptor() const = 0;
  virtual Deadline deadline() const = 0;
  /// One of the two has come.
  virtual void wake() = 0;
};

/// How the relay ended.
enum class RelayEnd {
  finished,       ///< all was sent, and the daemon closed after its last answer
  output_closed,  ///< nobody reads our output any more
  hung_up,        ///< the daemon closed while our input was still open
  timed_out,      ///< nothing came for `idle` after the end of our input
  output_failed,  ///< errno tells why
};

/// Carries bytes between `input`, the daemon and `output` without looking at them. The end of
/// `input` becomes a half-close: the answers still come. At most 64 KiB are held in each
/// direction; nothing is read for which there is no room. `input` and `output` are not owned and
/// their flags are not changed. If `output` is a terminal, control characters are made visible.
/// `observer` may be null; it outlives the call.
RelayEnd relay(int input, int output, FileDescriptor daemon, std::optional<Milliseconds> idle,
               RelayObserver* observer = nullptr);

/// Which requests of a connection have no answer yet, from the bytes of both directions, however
/// they are cut. Pure, and bounded: lines of up to longest_line bytes are looked at and up to
/// most_requests ids are kept, what is beyond that is not noticed. The end of a line that is too
/// long to look at, an answer without an id and a cancellation can end a request, so that none is
/// kept for ever: better forgotten than thought to be waiting.
class UnansweredRequests {
 public:
  static constexpr std::size_t longest_line = std::size_t{64} * 1024 * 1024;
  static constexpr std::size_t most_requests = 1024;
  static constexpr std::size_t longest_id = 256;

  /// Whether a request is among what has become a whole line.
  bool take_sent(std::string_view bytes);
  /// The last line needs no line break.
  bool take_end_of_sending();
  void take_received(std::string_view bytes);

  bool empty() const { return ids_.empty(); }

 private:
  /// A direction: what there is of the line that has not ended.
  struct Line {
    std::string begun;
    bool is_too_long = false;
  };
  using Take = void (UnansweredRequests::*)(std::string_view message);

  void split(Line& line, std::string_view bytes, Take take);
  void end_line(Line& line, std::string_view rest, Take take);
  void take_line(std::string_view line, Take take);
  void note_sent(std::string_view message);
  void note_received(std::string_view message);

  Line sent_;
  Line received_;
  bool has_new_ = false;
  std::set<std::string, std::less<>> ids_;  // as JSON, byte for byte
};

/// Tells a person at the relay what is being waited for, as a verb does (waiting_hint.hpp). A
/// request without a response after `timeout` is examined once, over a separate connection: the
/// relayed data stay as they are, and no notification is taken from the daemon. It prints one line
/// at most until no request is unanswered; until then it examines nothing further.
class WaitingWatch final : public RelayObserver {
 public:
  /// A new connection to the daemon; nothing if there is none to be had at once.
  using Connect = std::function<FileDescriptor()>;
  using Say = std::function<void(std::string_view line)>;

  WaitingWatch(Milliseconds timeout, Connect connect, Say say);

  void take_sent(std::string_view bytes) override;
  void take_end_of_sending() override;
  void take_received(std::string_view bytes) override;
  int descriptor() const override { return look_ ? look_->descriptor() : -1; }
  Deadline deadline() const override;
  void wake() override;

 private:
  void expect_answer(bool is_new);
  void begin_look();
  void take_look();

  Milliseconds timeout_;
  Connect connect_;
  Say say_;
  UnansweredRequests requests_;
  std::optional<Deadline> look_at_;   // what was sent last and not looked into
  std::optional<Conversation> look_;  // a look under way
  Deadline look_until_;
  bool said_ = false;  // since something was unanswered
};

/// Until a client sends a line, the daemon takes it for one of the older revisions. So there is a
/// moment for the first line before the connection; who only listens is connected after it.
void await_first_line();

/// `mcp-nc` without a verb.
ExitCode run_relay(Connected connected, const Options& options, const TrustedPeer& trusted);

}  // namespace client
