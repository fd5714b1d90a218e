#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/message_tap.hpp"
#include "event/event_loop.hpp"
#include "session/kept_session.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Sends in the session: notes in which one each message goes, and when the last one went. The
/// session's own messages are made here, as the server's era wants them.
///
/// Owned by the session, whose parts share it; the loop's thread only.
class SessionSender {
 public:
  SessionSender(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, const KeptSession& kept)
      : loop_(loop), ids_(ids), upstream_(upstream), kept_(kept) {}

  void send(Outgoing&& message) {
    last_sent_ = loop_.round_began();
    message.notes.session = kept_.number;
    message.notes.stateful = !is_modern();
    tap_.passed(Passage::to_server, {}, message.body);
    upstream_.send(std::move(message));
  }
  UpstreamId request(std::string_view method, std::string_view params = {});
  UpstreamId notify(std::string_view method, std::string_view params = {});
  /// Is the server there, and does it know the session? A modern one knows no `ping`.
  UpstreamId ask_whether_there() { return request(is_modern() ? "server/discover" : "ping"); }
  /// `server/discover`, before the server's era is known.
  UpstreamId probe();
  /// A request whose answer is a stream that stays open. REQUIRES: a modern server.
  UpstreamId stream(std::string_view method, std::string_view params,
                    std::string_view capabilities);
  /// Nothing more is wanted of that stream.
  void give_up(UpstreamId stream);

  /// Whether the server that was described last has no `initialize`.
  bool is_modern() const { return kept_.server && kept_.server->era() == Era::modern; }
  SteadyTime last_sent() const { return last_sent_; }
  UpstreamIdSource& ids() const { return ids_; }
  /// Where what goes to the server and comes from it can be watched, and the clients' messages too.
  MessageTap& tap() { return tap_; }

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
  const KeptSession& kept_;
  MessageTap tap_;
  SteadyTime last_sent_{};
};

}  // namespace bridge
