#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/message_tap.hpp"
#include "event/event_loop.hpp"
#include "mcp/handshake.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Sends in the session of one era: notes in which one each message goes, and when the last one
/// went. The session's own messages are made here, as the era wants them.
///
/// Owned by the session, whose parts share it; the loop's thread only.
class SessionSender {
 public:
  /// `number`: of the session in which a message goes.
  SessionSender(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, MessageTap& tap,
                Era era, const std::uint32_t& number)
      : loop_(loop), ids_(ids), upstream_(upstream), tap_(tap), era_(era), number_(number) {}

  void send(Outgoing&& message) {
    last_sent_ = loop_.round_began();
    message.notes.session = number_;
    message.notes.stateful = !is_modern();
    tap_.passed(Passage::to_server, {}, message.body);
    upstream_.send(std::move(message));
  }
  UpstreamId request(std::string_view method, std::string_view params = {});
  UpstreamId notify(std::string_view method, std::string_view params = {});
  /// Is the server there, and does it know the session? A modern one knows no `ping`.
  UpstreamId ask_whether_there() { return request(is_modern() ? "server/discover" : "ping"); }
  /// `server/discover`, before it is known whether the server is modern.
  UpstreamId probe();
  /// A request whose answer is a stream that stays open. REQUIRES: a modern server.
  UpstreamId stream(std::string_view method, std::string_view params,
                    std::string_view capabilities);
  /// Nothing more is wanted of that stream.
  void give_up(UpstreamId stream);

  Era era() const { return era_; }
  bool is_modern() const { return era_ == Era::modern; }
  SteadyTime last_sent() const { return last_sent_; }
  UpstreamIdSource& ids() const { return ids_; }

 private:
  Outgoing own(OutgoingKind kind, std::string_view method, std::string_view params, bool modern,
               std::string_view capabilities = "{}");
  UpstreamId send_own(Outgoing&& message) {
    const UpstreamId id = message.id;
    send(std::move(message));
    return id;
  }

  EventLoop& loop_;
  UpstreamIdSource& ids_;
  Upstream& upstream_;
  MessageTap& tap_;
  const Era era_;
  const std::uint32_t& number_;
  SteadyTime last_sent_{};
};

}  // namespace bridge
