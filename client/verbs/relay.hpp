#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "command_line/duration.hpp"
#include "connection/connect.hpp"
#include "connection/conversation.hpp"
#include "connection/relay.hpp"

namespace client {

/// Tells a person at the relay what is being waited for, as a verb does (waiting_hint.hpp). A
/// request that is not answered within `timeout` is looked into once, over a connection of its
/// own: what the relay carries stays as it is, and no notification is taken from the daemon. One
/// line at most is said until nothing is unanswered any more; until then nothing more is looked
/// into either.
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
